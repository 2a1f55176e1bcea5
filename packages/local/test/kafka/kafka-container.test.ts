import { containerEnvironment } from '../../src/kafka/kafka-container.js';

describe('the environment of an apache/kafka container', () => {
  it('has the settings of the embedded broker in the image’s spelling', () => {
    expect(containerEnvironment('docker.example', 20_500)).toMatchObject({
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_LISTENERS: 'PLAINTEXT://0.0.0.0:20500,CONTROLLER://127.0.0.1:9093',
      KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://docker.example:20500',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@127.0.0.1:9093',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
      KAFKA_LOG_DIRS: '/var/lib/kafka/data',
    });
  });

  it('keeps the controller’s port apart from the client’s', () => {
    expect(containerEnvironment('localhost', 9_093)['KAFKA_LISTENERS']).toBe(
      'PLAINTEXT://0.0.0.0:9093,CONTROLLER://127.0.0.1:9094',
    );
  });
});
