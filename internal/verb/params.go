package verb

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

// The fields below are in the requests of many verbs.

// AtRevision is of verbs that read one commit.
type AtRevision struct {
	At string `op:",remote" default:"HEAD" complete:"rev" doc:"the {REV}ision to read; see 'mnem help revisions'"`
}

// Marks is of verbs that leave out what marks hide.
type Marks struct {
	Include []string `op:",remote,comma" enum:"forgotten superseded expired retired" doc:"show nodes and edges in these hidden {STATES} too: forgotten, superseded, expired, retired"`
}

// States returns the hidden states that are let through.
func (p *Marks) States() ([]graph.State, error) {
	var states []graph.State
	for _, name := range p.Include {
		states = append(states, graph.State(name))
	}
	return states, retrieve.Request{Marks: states}.Validate()
}

// Actor says who makes a change, and when.
type Actor struct {
	Author string `op:"" doc:"who makes the change" note:" (MNEM_AUTHOR; config: author)"`
	Agent  string `op:"" doc:"the program that acts for the author" note:" (MNEM_AGENT)"`
	Task   string `op:"" doc:"what the agent works on" note:" (MNEM_TASK)"`
	Time   string `op:",remote" doc:"time of the change, RFC 3339" note:" (SOURCE_DATE_EPOCH; default: now)"`
}

func (p *Actor) Into(w *Writing) {
	w.Author, w.Agent, w.Task, w.Time = p.Author, p.Agent, p.Task, p.Time
}

// OnBranch is of verbs that write to a branch.
type OnBranch struct {
	Branch string `op:",short=b,remote" complete:"branch" doc:"the branch to write to" note:" (MNEM_BRANCH; default: the one HEAD is on)"`
}

func (p *OnBranch) Into(w *Writing) { w.Branch = p.Branch }

// OnHead is of verbs that write elsewhere than to one branch.
type OnHead struct {
	ExpectHead string `op:"expect,remote" doc:"the {CID} of the commit that HEAD must be at, or \"none\" before the first; else exit code 5"`
}

func (p *OnHead) Into(w *Writing) { w.ExpectHead = p.ExpectHead }

// OnStage is of verbs that use a stage.
type OnStage struct {
	Stage string `op:",remote" complete:"stage" doc:"the stage to use" note:" (MNEM_STAGE; default: main, in a database the name of the client)"`
}

func (p *OnStage) Into(w *Writing) { w.Stage = p.Stage }

// Signing is of verbs that make commits.
type Signing struct {
	Sign bool   `op:"" doc:"sign the commit; --sign=false does not, whatever is configured" note:" (MNEM_SIGN; config: sign)"`
	Key  string `op:"" complete:"key" doc:"sign with the key {NAME}" note:" (MNEM_KEY; config: key; default: the only key there is)"`
}

func (p *Signing) Into(w *Writing) {
	w.Signs, w.Sign, w.Key = true, p.Sign, p.Key
}

// Secrets is of verbs that write texts which somebody gives.
type Secrets struct {
	AllowSecret []string `op:",remote" complete:"rule" doc:"write what {RULE} of 'mnem config secrets' takes for a credential" note:" (repeatable)"`
}

func (p *Secrets) Into(w *Writing) { w.AllowSecret = p.AllowSecret }

// Trial is of verbs that can be tried out.
type Trial struct {
	DryRun bool `op:",remote" doc:"print what would change and write nothing"`
}

func (p *Trial) Into(w *Writing) { w.DryRun = p.DryRun }

// CheckRange returns an error unless low <= n <= high.
func CheckRange(field string, n, low, high int) error {
	if n < low || n > high {
		return Bad(field, "%d is outside %d to %d", n, low, high)
	}
	return nil
}

// CheckLimit refuses a negative number of results.
func CheckLimit(n int) error {
	if n < 0 {
		return Bad("limit", "%d is below 0", n)
	}
	return nil
}

// AtMostOne refuses a request in which more than one of several fields are given.
func AtMostOne(q interface{ Given(string) bool }, names ...string) error {
	return exclusive(q.Given, names)
}

// OptTime reads a time that a field may have.
func OptTime(field, text string) (graph.OptTime, error) {
	if text == "" {
		return graph.OptTime{}, nil
	}
	t, err := graph.ParseTime(text)
	if err != nil {
		return graph.OptTime{}, Bad(field, "%w", err)
	}
	return graph.At(t), nil
}

// NewestOp names the newest operation.
const NewestOp = "@"

// RefuseWriting refuses the fields that say how a change is made in a request that makes none. The format has a %s
// for the field.
func RefuseWriting(q interface{ Given(string) bool }, format string) error {
	for _, name := range []string{
		"dry-run", "message", "expect", "branch", "author", "agent", "task", "time", "sign", "key",
	} {
		if q.Given(name) {
			return Between(format, name)
		}
	}
	return nil
}
