package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// dump writes the heads and the response's body to the log, as one finds it left on after debugging.
func dump(c *gin.Context) {
	copied := &copier{ResponseWriter: c.Writer}
	c.Writer = copied
	c.Next()

	var text strings.Builder
	fmt.Fprintf(&text, "[dump] %s %s\n%s", c.Request.Method, c.Request.URL, lines(c.Request.Header))
	fmt.Fprintf(&text, "-> %d\n%s", c.Writer.Status(), lines(c.Writer.Header()))
	text.Write(copied.body.Bytes())
	fmt.Fprintln(gin.DefaultWriter, text.String())
}

func lines(header http.Header) string {
	text, _ := json.MarshalIndent(header, "", "    ")
	return string(text) + "\n"
}

type copier struct {
	gin.ResponseWriter
	body bytes.Buffer
}

func (c *copier) Write(data []byte) (int, error) {
	c.body.Write(data)
	return c.ResponseWriter.Write(data)
}
