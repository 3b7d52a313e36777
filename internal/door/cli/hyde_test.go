package cli

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHydeIsEmbedded has the passage embedded like the query, and the mean in the receipt.
func TestHydeIsEmbedded(t *testing.T) {
	w, chat := judgeWorld(t)
	models := &fakeModels{dims: 8}
	w.servers["ollama:e"] = serveModel(t, models)
	w.run(0, "embed", "--model", "ollama:e")
	models.texts = nil
	chat.said = "passage"
	args := []string{"a fact", "--embed=ollama:e", "--receipt"}
	hyde := append(slices.Clone(args), "--set", "rewrite=hyde", "--set", "rewrite-model=ollama:m")
	got, stderr := w.ask(hyde...)
	if diff := cmp.Diff([]string{"a fact", "passage"}, models.texts); diff != "" || stderr != "" {
		t.Errorf("stderr %q, texts (-want +got):\n%s", stderr, diff)
	}
	// Texts of 6 and 7 bytes are (.25, …, 1, 0) and (.25, …, 0, 1) there: their mean has both.
	if v := w.receiptVector(got.Receipt); !slices.Equal(v, []int8{64, 0, 0, 0, 0, 0, 127, 127}) {
		t.Errorf("vector %v", v)
	}
	asked := models.requests + chat.requests
	w.run(0, "session", "replay", got.Receipt)
	if models.requests+chat.requests != asked {
		t.Error("replay asks")
	}
	// Rewrites of another kind are other questions: they leave the vector as it is.
	got, _ = w.ask(append(slices.Clone(args), "--set", "rewrite=multi", "--set", "rewrite-model=ollama:m")...)
	if v := w.receiptVector(got.Receipt); !slices.Equal(v, []int8{32, 0, 0, 0, 0, 0, 127, 0}) {
		t.Errorf("vector %v", v)
	}
	// One embedding alone fails: there is none of half of what was asked.
	models.intercept = fail(http.StatusBadRequest, models.requests+2)
	got, stderr = w.ask(hyde...)
	if v := w.receiptVector(got.Receipt); v != nil || !strings.Contains(stderr, "without embeddings") {
		t.Errorf("vector %v, stderr %q", v, stderr)
	}
	// No passage: the query alone, with a warning in the answer.
	models.intercept, chat.status = nil, http.StatusTooManyRequests
	got, _ = w.ask(hyde...)
	if v := w.receiptVector(got.Receipt); len(v) != 8 || v[7] != 0 || len(got.Warnings) == 0 ||
		got.Warnings[0].Code != "not_rewritten" {
		t.Errorf("vector %v, %+v", v, got.Warnings)
	}
}

// receiptVector reads the vector of the model ollama:e in a receipt, nil for none.
func (w *world) receiptVector(receipt string) []int8 {
	w.t.Helper()
	text, _ := w.run(0, "show", receipt, "--json")
	var block struct {
		Data struct {
			Request struct {
				Vectors map[string]map[string]struct{ Bytes string }
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &block); err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	data, err := base64.RawStdEncoding.DecodeString(
		block.Data.Request.Vectors["ollama:e"]["/"].Bytes)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []int8
	for _, b := range data {
		out = append(out, int8(b))
	}
	return out
}

// serveModel starts a server that ends with the test.
func serveModel(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}
