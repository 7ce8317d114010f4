// A mock AI backend: GET and POST /api/data give a small JSON answer, after DELAY_MS.
//
//	PORT=8001 DELAY_MS=500 LOG=1 PPROF=127.0.0.1:6060 backend
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"studies/proxy/serving"
)

const text = `{"answer":"The backend has thought about it."}`

func main() {
	mux := http.NewServeMux()
	answer := answerAfter(delay())
	mux.HandleFunc("GET /api/data", answer)
	mux.HandleFunc("POST /api/data", answer)
	serving.Serve(mux)
}

func delay() time.Duration {
	said := os.Getenv("DELAY_MS")
	if said == "" {
		return 0
	}
	ms, err := strconv.Atoi(said)
	if err != nil {
		log.Fatalf("DELAY_MS: %v", err)
	}
	return time.Duration(ms) * time.Millisecond
}

// answerAfter reads the JSON of a request, as Express's backend does, and answers some time later.
func answerAfter(delay time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var asked any
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil && err != io.EOF {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if delay > 0 {
			time.Sleep(delay)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		io.WriteString(w, text)
	}
}
