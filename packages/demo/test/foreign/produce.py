"""Produces NDJSON from standard input to payments.events with librdkafka, as a payment system might.

usage: produce.py BROKERS CODEC MODE PARTITIONER KEYS
MODE: plain, idempotent, commit (a transaction), abort (a transaction that is taken back); KEYS: keys or none
"""
import json
import sys
import uuid

from confluent_kafka import Producer

brokers, codec, mode, partitioner, keys = sys.argv[1:6]
settings = {
    "bootstrap.servers": brokers,
    "compression.type": codec,
    "partitioner": partitioner,
    "acks": "all",
    "linger.ms": 20,
}
if mode == "idempotent":
    settings["enable.idempotence"] = True
if mode in ("commit", "abort"):
    settings["transactional.id"] = f"payments-{uuid.uuid4()}"

failures = []
producer = Producer(settings)
if mode in ("commit", "abort"):
    producer.init_transactions(30)
    producer.begin_transaction()
for line in sys.stdin:
    line = line.rstrip("\n")
    key = json.loads(line)["data"]["endToEndId"] if keys == "keys" else None
    producer.produce("payments.events", value=line, key=key, on_delivery=lambda error, _: error and failures.append(error))
if producer.flush(30) or failures:
    sys.exit(f"not delivered: {failures[:3]}")
if mode == "commit":
    producer.commit_transaction(30)
if mode == "abort":
    producer.abort_transaction(30)
