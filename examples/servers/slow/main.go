// A server as many are written: gin, its logger, and a middleware that dumps every request and
// answer to the log. -middleware=false leaves logger and dump out.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof" // on its own port, apart from the routes under load

	"github.com/gin-gonic/gin"
)

func main() {
	port := flag.Int("port", 8080, "port on 127.0.0.1; 0 takes any free one")
	profile := flag.String("pprof", "127.0.0.1:0", "address of /debug/pprof")
	middleware := flag.Bool("middleware", true, "log and dump every request")
	flag.Parse()

	go http.ListenAndServe(*profile, nil)
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s/healthz\n", listener.Addr())
	log.Fatal(http.Serve(listener, routes(*middleware)))
}

func routes(middleware bool) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.Use(gin.Recovery())
	if middleware {
		engine.Use(gin.Logger(), dump)
	}
	engine.GET("/healthz", func(c *gin.Context) { c.JSON(200, gin.H{"status": "ok"}) })
	return engine
}
