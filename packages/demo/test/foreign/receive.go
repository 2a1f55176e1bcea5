// An HTTPS receiver with nothing but Go's standard library. usage: receive CERT KEY FILE; prints its port.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	file, err := os.OpenFile(os.Args[3], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			log.Fatal(err)
		}
		headers := [][2]string{{"Host", r.Host}, {"Content-Length", fmt.Sprint(r.ContentLength)}}
		for name, values := range r.Header {
			for _, value := range values {
				headers = append(headers, [2]string{name, value})
			}
		}
		// encoding/json writes bytes as base64.
		line, err := json.Marshal(map[string]any{"path": r.RequestURI, "headers": headers, "body": body})
		if err != nil {
			log.Fatal(err)
		}
		if _, err := file.Write(append(line, '\n')); err != nil {
			log.Fatal(err)
		}
		w.WriteHeader(http.StatusAccepted)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.ServeTLS(listener, nil, os.Args[1], os.Args[2]))
}
