// A receiver with nothing of ours that demands a client certificate. usage: CERT KEY CA VERSION; prints its port.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	pem, err := os.ReadFile(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(pem)
	version := uint16(tls.VersionTLS13)
	if os.Args[4] == "TLSv1.2" {
		version = tls.VersionTLS12
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	server := &http.Server{
		Handler:  http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }),
		ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{
			ClientCAs:  authorities,
			ClientAuth: tls.RequireAndVerifyClientCert,
			MinVersion: version,
			MaxVersion: version,
		},
	}
	log.Fatal(server.ServeTLS(listener, os.Args[1], os.Args[2]))
}
