// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tools of mcp: schemas, calls, errors. The functions of the tools are in the other files mcp_*.go.

// A toolText names and describes a tool to clients.
type toolText struct{ name, title, description string }

// addTool adds a tool whose arguments are an In and whose results are an Out, both structs. Its calls end with ctx. A
// failure is a result with an error, so that the client sees its text.
func addTool[In, Out any](
	ctx context.Context, m *mcpServer, s *mcp.Server, text toolText, do func(context.Context, In) (Out, error),
) {
	input := schemaOf[In]()
	resolved, err := input.Resolve(nil)
	must(err)
	within := false
	s.AddTool(&mcp.Tool{
		Name: text.name, Description: text.description, InputSchema: input, OutputSchema: schemaOf[Out](),
		Annotations: &mcp.ToolAnnotations{
			Title: text.title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &within,
		},
	}, func(call context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		call, cancel := context.WithCancel(call)
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		began := m.now()
		result, err := callTool(call, m.maxTime, resolved, r.Params.Arguments, do)
		m.log.Info("call", "tool", text.name, "time", m.now().Sub(began), "error", err)
		if err != nil {
			result = &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: toolError(err)}}}
		}
		return result, nil
	})
}

// schemaOf returns the JSON schema of a struct.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[rowText]():         {Type: "object"},
	}})
	must(err)
	return s
}

// callTool calls the function of a tool with arguments in JSON, which the schema describes. The call ends after
// maxTime.
func callTool[In, Out any](ctx context.Context, maxTime time.Duration, schema *jsonschema.Resolved,
	arguments json.RawMessage, do func(context.Context, In) (Out, error),
) (*mcp.CallToolResult, error) {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	var values map[string]any
	if err := json.Unmarshal(arguments, &values); err != nil {
		return nil, fmt.Errorf("the arguments are not an object of JSON: %w", err)
	}
	if err := schema.Validate(values); err != nil {
		return nil, fmt.Errorf("the arguments do not match the schema of the tool: %w", err)
	}
	var in In
	if err := json.Unmarshal(arguments, &in); err != nil {
		return nil, fmt.Errorf("the arguments do not match the schema of the tool: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, slowCallError{maxTime})
	defer cancel()
	out, err := do(ctx, in)
	if err != nil {
		return nil, cmp.Or(slowCall(ctx), err)
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{
		StructuredContent: json.RawMessage(text), Content: []mcp.Content{&mcp.TextContent{Text: string(text)}},
	}, nil
}

// An slowCallError means that a call took longer than --max-time.
type slowCallError struct{ limit time.Duration }

func (e slowCallError) Error() string {
	return fmt.Sprintf("the call took longer than %v and was ended: read less, or raise --max-time of the server", e.limit)
}

// slowCall returns the slowCallError of a call that has taken too long, otherwise nil.
func slowCall(ctx context.Context) error {
	var slow slowCallError
	if errors.As(context.Cause(ctx), &slow) {
		return slow
	}
	return nil
}

// toolError returns the text of an error, with the place in the statement.
func toolError(err error) string {
	text := explain(err)
	var place placedError
	if errors.As(err, &place) {
		text += "\n" + place.caret
	}
	return string(bytes.ToValidUTF8([]byte(text), []byte("\ufffd")))
}
