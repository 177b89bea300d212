// A server made with the official Go SDK, for bench/field: one tool that says what it was told, over stdio, or with
// the word http over HTTP, without sessions and in JSON. It prints its port, then.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type words struct {
	Text string `json:"text" jsonschema:"what to say"`
}

func echo(_ context.Context, _ *mcp.CallToolRequest, given words) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: given.Text}}}, nil, nil
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "Says what it was told"}, echo)
	if len(os.Args) < 2 {
		if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			log.Fatal(err)
		}
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	options := &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, options)
	log.Fatal(http.Serve(listener, handler))
}
