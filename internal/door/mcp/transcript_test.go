package mcp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnem-project/mnem/internal/door/mcp"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/o200k"
)

// scene holds a model's knowledge when it remembers, and later when it asks: a memory with phrases that it would
// look for it by, and a question that has no word of the memory, in other wordings too.
type scene struct {
	Text     string   `json:"text"`
	Phrases  []string `json:"phrases"`
	Question string   `json:"question"`
	Wordings []string `json:"wordings"`
}

// step is one call of a transcript.
type step struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// howMany is how a description tells a client to write several texts into a parameter.
var howMany = regexp.MustCompile(`^(\d+) to (\d+) `)

// follows returns the call of a tool by a client that does what the descriptions of its parameters say: a
// required text holds its message, and if a list is described by how many texts it wants, it
// gets as many of more as it may have. Nothing else is filled in.
func follows(t *testing.T, tool *sdk.Tool, says string, more []string) step {
	t.Helper()
	data := must.Get(json.Marshal(tool.InputSchema))(t)
	var schema struct {
		Properties map[string]struct{ Type, Description string }
		Required   []string
	}
	must.OK(t, json.Unmarshal(data, &schema))
	call := step{tool.Name, map[string]any{}}
	for _, name := range schema.Required {
		call.Arguments[name] = says
	}
	if len(schema.Required) == 0 {
		call.Arguments["query"] = says
	}
	for name, p := range schema.Properties {
		bounds := howMany.FindStringSubmatch(p.Description)
		if p.Type != "array" || bounds == nil {
			continue
		}
		least, _ := strconv.Atoi(bounds[1]) // digits
		most, _ := strconv.Atoi(bounds[2])
		must.True(t, len(more) >= least, "%s: %q wants %d texts, the model has %q", tool.Name, name, least, more)
		call.Arguments[name] = more[:min(most, len(more))]
	}
	return call
}

// without returns a tool whose parameters are not described.
func without(t *testing.T, tool *sdk.Tool) *sdk.Tool {
	t.Helper()
	data := must.Get(json.Marshal(tool.InputSchema))(t)
	silent := *tool
	silent.InputSchema = json.RawMessage(regexp.MustCompile(`"description":"(\\.|[^"\\])*",?`).ReplaceAll(data, nil))
	return &silent
}

func scenes(t *testing.T) (all []scene) {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join("testdata", "scenes.jsonl")))(t)
	for line := range bytes.Lines(data) {
		var s scene
		must.OK(t, json.Unmarshal(line, &s))
		all = append(all, s)
	}
	must.Require(t, len(all) == 40, "%d scenes", len(all))
	return all
}

// play remembers all scenes and then asks about each, as the tools say. It returns the calls of each scene, and
// in how many the memory is among the answers.
func play(t *testing.T, tools map[string]*sdk.Tool) (transcripts [][]step, answered int) {
	t.Helper()
	s := connect(t, server(memory(t, ""), mcp.ServerOptions{}), nil)
	all, ids := scenes(t), make([]any, 0, 40)
	for _, one := range all {
		c := follows(t, tools["remember"], one.Text, one.Phrases)
		ids = append(ids, call(t, s, c.Tool, c.Arguments).out["id"])
		transcripts = append(transcripts, []step{c})
	}
	for i, one := range all {
		c := follows(t, tools[[]string{"recall", "retrieve"}[i%2]], one.Question, one.Wordings)
		transcripts[i] = append(transcripts[i], c)
		items, _ := call(t, s, c.Tool, c.Arguments).out["items"].([]any)
		for _, it := range items {
			if item := it.(map[string]any); item["id"] == ids[i] && item["band"] == "answer" {
				answered++
			}
		}
	}
	return transcripts, answered
}

// TestTranscripts plays each scene by a client that reads the published list of tools and does what it says: it
// writes cues and other wordings, and finds what it remembered in a question without a word of it. A client
// that is not told to does not.
func TestTranscripts(t *testing.T) {
	list, published := toolList(t, mcp.ProfileCore)
	if n := o200k.Count(t, string(list)); n > 3200 {
		t.Errorf("the list of tools is %d tokens", n)
	}
	told, untold := map[string]*sdk.Tool{}, map[string]*sdk.Tool{}
	for _, tool := range published {
		told[tool.Name], untold[tool.Name] = tool, without(t, tool)
	}
	transcripts, answered := play(t, told)
	must.True(t, answered >= len(transcripts), "%d of %d questions find their memory", answered, len(transcripts))
	var lines bytes.Buffer
	for i, calls := range transcripts {
		for j, member := range []string{"cues", "also"} {
			if _, written := calls[j].Arguments[member]; !written {
				t.Errorf("scene %d: %s was called without %s: %v", i+1, calls[j].Tool, member, calls[j].Arguments)
			}
		}
		data := must.Get(json.Marshal(calls))(t)
		lines.Write(append(data, '\n'))
	}
	path := filepath.Join("testdata", "transcripts.jsonl")
	if *rewrite {
		must.OK(t, os.WriteFile(path, lines.Bytes(), 0o644))
	}
	want := must.Get(os.ReadFile(path))(t)
	if got := lines.String(); got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("%s is not what the client does; see the diff after -rewrite", path)
	}
	calls, plain := play(t, untold)
	t.Logf("%d of %d find their memory, %d without descriptions", answered, len(transcripts), plain)
	if _, written := calls[0][0].Arguments["cues"]; written || plain > len(calls)/4 {
		t.Errorf("without descriptions %d of %d questions find their memory: %v", plain, len(calls), calls[0])
	}
}
