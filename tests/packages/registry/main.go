// What the MCP registry itself says of a server.json on standard input: nothing, or one line for each thing that is
// wrong, and exit code 1. The registry's module keeps its validators to itself, so scripts/setup builds this inside of it.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/registry/internal/validators"
	apiv0 "github.com/modelcontextprotocol/registry/pkg/api/v0"
)

func main() {
	var server apiv0.ServerJSON
	input := json.NewDecoder(os.Stdin)
	input.DisallowUnknownFields() // the registry would drop them without a word
	if err := input.Decode(&server); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	result := validators.ValidateServerJSON(&server, validators.ValidationAll)
	for _, issue := range result.Issues {
		fmt.Printf("%s: %s\n", issue.Path, issue.Message)
	}
	if len(result.Issues) > 0 {
		os.Exit(1)
	}
}
