// Command websocketserver is gorilla/websocket, which offers permessage-deflate. It answers each message
// with the same message, and prints at its end how many it has answered, and with which codes its clients
// have closed.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/gorilla/websocket"
)

// counts is what the server prints.
type counts struct {
	mutex    sync.Mutex
	Messages int         `json:"messages"`
	Closes   map[int]int `json:"closes"`
}

func main() {
	address := flag.String("address", "", "listen at HOST:PORT")
	certificate := flag.String("certificate", "", "speak TLS with this certificate")
	key := flag.String("key", "", "the key of the certificate")
	flag.Parse()

	seen := &counts{Closes: map[int]int{}}
	upgrader := websocket.Upgrader{EnableCompression: true}
	handler := func(writer http.ResponseWriter, request *http.Request) {
		connection, err := upgrader.Upgrade(writer, request, nil)
		if err != nil {
			return
		}
		defer connection.Close()
		seen.add(serve(connection))
	}
	go func() {
		if *certificate != "" {
			log.Fatal(http.ListenAndServeTLS(*address, *certificate, *key, http.HandlerFunc(handler)))
		}
		log.Fatal(http.ListenAndServe(*address, http.HandlerFunc(handler)))
	}()

	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM)
	<-ends
	seen.mutex.Lock()
	_ = json.NewEncoder(os.Stdout).Encode(seen)
}

// serve answers the messages of a connection to its end; it returns their number and the code of the end.
func serve(connection *websocket.Conn) (int, int) {
	for messages := 0; ; messages++ {
		kind, message, err := connection.ReadMessage()
		if err == nil {
			err = connection.WriteMessage(kind, message)
		}
		var end *websocket.CloseError
		if errors.As(err, &end) {
			return messages, end.Code
		}
		if err != nil {
			return messages, 0
		}
	}
}

func (seen *counts) add(messages, code int) {
	seen.mutex.Lock()
	defer seen.mutex.Unlock()
	seen.Messages += messages
	seen.Closes[code]++
}
