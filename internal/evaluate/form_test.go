package evaluate_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// told is a memory of two passages, one of them longer than a chunk, and of a talk.
func told() string {
	long := strings.Repeat("The quay is mended each spring with oak from the hills. ", 60)
	return `{"node":{"key":"quay","type":"Passage","summary":"The quay","content":"` + long + `"}}
{"node":{"key":"ferry","type":"Passage","summary":"The ferry","content":"It leaves at nine."}}
{"node":{"key":"plain","type":"Passage","summary":"Gulls nest below the lighthouse."}}
{"node":{"key":"t1","type":"Session","summary":"Monday"}}
{"node":{"key":"t1:1","type":"Turn","summary":"Who paints the boat?","props":{"speaker":"Ann"},"created":"2023-05-08T13:56:00.5Z"}}
{"node":{"key":"t1:2","type":"Turn","summary":"My brother paints it.","props":{"speaker":"Ben"}}}
{"edge":{"type":"in","src":"t1:1","dst":"t1"}}
`
}

func TestForms(t *testing.T) {
	for _, tt := range []struct {
		as        evaluate.Form
		questions string
		names     []string // of the first item of each
	}{
		{evaluate.FormMarkdown, `{"qid":"a","text":"who mended the quay with oak?","gold":["quay"]}
{"qid":"b","text":"when does the ferry leave?","gold":["ferry"]}
{"qid":"c","text":"where do gulls nest?","gold":["plain"]}`, []string{"quay", "ferry", "plain"}},
		{evaluate.FormChatGPT, `{"qid":"a","text":"brother paints","gold":["t1:2"],"gold_sessions":["t1"]}`,
			[]string{"t1:2"}},
	} {
		dir := fstest.MapFS{
			"a.changes.jsonl": {Data: []byte(told())}, "a.queries.jsonl": {Data: []byte(tt.questions)},
		}
		var first []string
		report, err := evaluate.Run(t.Context(), dir, evaluate.RunOptions{
			As: tt.as, By: evaluate.ByLane,
			Answer: func(_ *evaluate.Query, a *retrieve.Answer) error {
				seen := map[string]bool{}
				for _, it := range a.Items {
					if seen[it.Key] {
						t.Errorf("%s: %s is twice in an answer", tt.as, it.Key)
					}
					seen[it.Key] = true
				}
				first = append(first, a.Items[0].Key)
				return nil
			},
		})
		must.OK(t, err)
		if strings.Join(first, " ") != strings.Join(tt.names, " ") {
			t.Errorf("%s: %q comes first, want %q", tt.as, first, tt.names)
		}
		must.Equal(t, report.All.Text(evaluate.MRR, 2), "1.00", tt.as, ": MRR")
		for _, row := range report.Categories {
			if got := row.Text(evaluate.Recall10, 2); row.Category == "text" && got != "1.00" {
				t.Errorf("%s: R@10 of the text lane %s", tt.as, got)
			}
		}
	}
}

func TestFormsThatFail(t *testing.T) {
	ask := `{"qid":"a","text":"ferry","gold":["ferry"]}`
	for _, tt := range []struct {
		as                    evaluate.Form
		lines, question, want string
	}{
		{evaluate.FormMarkdown, `{"node":{"type":"Passage","summary":"x"}}`, ask, "key: a node without one"},
		{evaluate.FormMarkdown, told(), `{"qid":"a","text":"x","gold":["boat"]}`, `no node "boat"`},
		{evaluate.FormMarkdown, `{"node":{"key":"ferry"`, ask, "a.changes.jsonl:1"},
		{evaluate.FormChatGPT, `{"node":{"key":"ferry","type":"Passage","summary":"x"}}`, ask, "speaker: no node has"},
		{evaluate.FormChatGPT, told(), ask, `no node "ferry"`},
	} {
		_, err := evaluate.Run(t.Context(), fstest.MapFS{
			"a.changes.jsonl": {Data: []byte(tt.lines)}, "a.queries.jsonl": {Data: []byte(tt.question)},
		}, evaluate.RunOptions{As: tt.as})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.as, err, tt.want)
		}
	}
}
