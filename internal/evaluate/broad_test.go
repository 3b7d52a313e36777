package evaluate_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// broadQuestion asks for much at once. Each point of a good answer has several wordings.
type broadQuestion struct {
	ID     string     `json:"qid"`
	Text   string     `json:"text"`
	Points [][]string `json:"points"`
}

// covered counts the points that a text makes, in any case.
func (q *broadQuestion) covered(text string) (n int) {
	text = strings.ToLower(text)
	for _, wordings := range q.Points {
		for _, w := range wordings {
			if strings.Contains(text, strings.ToLower(w)) {
				n++
				break
			}
		}
	}
	return n
}

// broadSet returns the bundled memories with their broad questions, and these by name.
func broadSet(t *testing.T) (fstest.MapFS, map[string]*broadQuestion) {
	t.Helper()
	files, questionsByID := fstest.MapFS{}, map[string]*broadQuestion{}
	for name, gold := range map[string]string{"almanac": "pellow", "chat": "chat/S1:1"} {
		changes := must.Get(os.ReadFile(filepath.Join(questions, name+".changes.jsonl")))(t)
		broad := must.Get(os.ReadFile(filepath.Join(questions, name+".broad.jsonl")))(t)
		var asked bytes.Buffer
		for line := range bytes.Lines(broad) {
			q := new(broadQuestion)
			must.OK(t, json.Unmarshal(line, q))
			questionsByID[q.ID] = q
			data := must.Get(json.Marshal(map[string]any{"qid": q.ID, "text": q.Text, "gold": []string{gold}}))(t)
			asked.Write(append(data, '\n'))
		}
		files[name+".changes.jsonl"] = &fstest.MapFile{Data: changes}
		files[name+".queries.jsonl"] = &fstest.MapFile{Data: asked.Bytes()}
	}
	return files, questionsByID
}

// TestBroadQuestions: answers with digests cover more points of broad questions than items alone do, and as many but for
// one in a budget that has room for little more than the items.
func TestBroadQuestions(t *testing.T) {
	files, byID := broadSet(t)
	must.Require(t, len(byID) == 15, "%d questions", len(byID))
	for _, budget := range []int{256, 512} {
		points, digests := map[retrieve.Altitude]int{}, map[retrieve.Altitude]int{}
		for _, at := range []retrieve.Altitude{retrieve.AltitudeEntity, retrieve.AltitudeAuto} {
			_, err := evaluate.Run(t.Context(), files, evaluate.RunOptions{
				Base: retrieve.Request{Limit: new(retrieve.DefaultLimit), Budget: &budget,
					OutputOptions: retrieve.OutputOptions{Altitude: at}},
				Answer: func(q *evaluate.Query, a *retrieve.Answer) error {
					var text strings.Builder
					for i := range a.Digests {
						text.WriteString(a.Digests[i].Rendered)
					}
					for i := range a.Items {
						text.WriteString(a.Items[i].Rendered)
					}
					points[at] += byID[q.ID].covered(text.String())
					digests[at] += len(a.Digests)
					return nil
				},
			})
			must.OK(t, err)
		}
		more := points[retrieve.AltitudeAuto] - points[retrieve.AltitudeEntity]
		must.True(t, more >= -1 && (more > 0 || budget <= 256) && digests[retrieve.AltitudeEntity] == 0 &&
			digests[retrieve.AltitudeAuto] != 0, "budget %d: points %v, digests %v", budget, points, digests)
	}
}
