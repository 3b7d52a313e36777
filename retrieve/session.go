package retrieve

import (
	"cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// KindSession is the kind of a session's records.
const KindSession = "session"

// Session is one record of a session: a chain whose newest record is the session's state.
type Session struct {
	Name    string       `json:"of"`                  // as the end of its ref's name
	Seq     int64        `json:"-"`                   // 0 for the first record
	Prev    ipld.CID     `json:"-"`                   // the record before, undefined in the first
	Commit  ipld.CID     `json:"commit" shape:"null"` // the pinned commit, undefined in a session that follows HEAD
	Follow  bool         `json:"follow"`
	Agent   string       `json:"agent" shape:"null"` // "" for none
	Task    string       `json:"task" shape:"null"`  // "" for none
	Actor   string       `json:"actor"`
	Time    graph.Time   `json:"time"`
	Receipt ipld.CID     `json:"-"` // the receipt that this record adds, undefined for none
	Ended   bool         `json:"-"` // true in the last record of a session that ended
	Extra   []ipld.Entry `json:"-"` // unknown fields in canonical order
}

var sessionFields = ipld.FieldNames(new(Session).fields)

func (s *Session) fields(r *ipld.Record) {
	r.Begin(KindSession, recordVersion, &s.Extra)
	r.Int("seq", &s.Seq)
	r.String("name", &s.Name)
	r.OptLink("prev", &s.Prev)
	r.OptString("task", &s.Task)
	r.Int("time", (*int64)(&s.Time))
	r.String("actor", &s.Actor)
	r.OptString("agent", &s.Agent)
	if r.Has("ended", s.Ended) {
		r.Bool("ended", &s.Ended)
		r.Refuse(!s.Ended, "ended is left out unless true")
	}
	r.OptLink("commit", &s.Commit)
	r.Bool("follow", &s.Follow)
	r.OptLink("receipt", &s.Receipt)
}

// Validate returns a *graph.FieldError unless s keeps every rule of clause 13.2. Only a valid record may be encoded.
func (s *Session) Validate() error {
	if err := graph.ValidateName(s.Name); err != nil {
		return graph.Fieldf("name", "%v", err)
	}
	if s.Seq < 0 || s.Seq > graph.MaxCount {
		return graph.Fieldf("seq", "%d is outside 0 to %d", s.Seq, int64(graph.MaxCount))
	}
	if s.Prev.Defined() != (s.Seq > 0) {
		return graph.Fieldf("prev", "given if and only if seq is above 0")
	}
	if s.Commit.Defined() == s.Follow {
		return graph.Fieldf("commit", "given if and only if the session does not follow")
	}
	err := cmp.Or(
		graph.CheckOptLink("prev", s.Prev),
		graph.CheckOptLink("commit", s.Commit),
		graph.CheckOptLink("receipt", s.Receipt),
		graph.CheckLine("agent", s.Agent, 0, graph.MaxActor),
		graph.CheckLine("task", s.Task, 0, graph.MaxActor),
		graph.CheckLine("actor", s.Actor, 1, graph.MaxActor),
		graph.CheckTime("time", s.Time),
		graph.CheckExtra(s.Extra, sessionFields),
	)
	if err != nil {
		return err
	}
	if err := ipld.Check(s.Encode()); err != nil {
		return graph.Fieldf("", "too large for one block: %v", err)
	}
	return nil
}

// Encode returns the block of a valid record.
func (s *Session) Encode() []byte { return ipld.WriteRecord(512, s.fields) }

// DecodeSession reads the block of a session's record. It returns an error that wraps
// ipld.ErrInvalid for everything that Encode cannot have written.
func DecodeSession(block []byte) (*Session, error) {
	s := new(Session)
	return ipld.ReadRecord(block, s, s.fields, s.Validate)
}
