package retrieve

import (
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

var sessionFields = []string{
	"v", "seq", "kind", "name", "prev", "task", "time", "actor", "agent", "ended", "commit",
	"follow", "receipt",
}

// Validate returns a *graph.FieldError unless s keeps every rule of clause 13.2. Only a valid
// record may be encoded.
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
	checks := []error{
		checkOptLink("prev", s.Prev),
		checkOptLink("commit", s.Commit),
		checkOptLink("receipt", s.Receipt),
		graph.CheckLine("agent", s.Agent, 0, graph.MaxActor),
		graph.CheckLine("task", s.Task, 0, graph.MaxActor),
		graph.CheckLine("actor", s.Actor, 1, graph.MaxActor),
		graph.CheckTime("time", s.Time),
		graph.CheckExtra(s.Extra, sessionFields),
	}
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	if err := ipld.Check(s.Encode()); err != nil {
		return graph.Fieldf("", "too large for one block: %v", err)
	}
	return nil
}

func checkOptLink(field string, c ipld.CID) error {
	if !c.Defined() {
		return nil
	}
	return graph.CheckLink(field, c, ipld.DagCBOR)
}

// Encode returns the block of a valid record.
func (s *Session) Encode() []byte {
	w := ipld.NewRecord(make([]byte, 0, 512), s.Extra)
	w.Version(recordVersion)
	w.Int("seq", s.Seq)
	w.Kind(KindSession)
	w.String("name", s.Name)
	w.OptLink("prev", s.Prev)
	w.OptString("task", s.Task)
	w.Int("time", int64(s.Time))
	w.String("actor", s.Actor)
	w.OptString("agent", s.Agent)
	if s.Ended {
		w.Value("ended", ipld.BoolValue(true))
	}
	w.OptLink("commit", s.Commit)
	w.Value("follow", ipld.BoolValue(s.Follow))
	w.OptLink("receipt", s.Receipt)
	return w.Finish()
}

// DecodeSession reads the block of a session's record. It returns an error that wraps
// ipld.ErrInvalid for everything that Encode cannot have written.
func DecodeSession(block []byte) (*Session, error) {
	s := new(Session)
	var seen fieldSet
	extra, err := ipld.DecodeRecord(block, KindSession, recordVersion,
		func(key string, d *ipld.Decoder) (bool, error) {
			seen.add(key)
			return s.field(key, d)
		})
	if err != nil {
		return nil, err
	}
	s.Extra = extra
	if err := seen.missing([]string{"seq", "name", "time", "actor", "follow"}); err != nil {
		return nil, invalidRecord(KindSession, err)
	}
	if err := s.Validate(); err != nil {
		return nil, invalidRecord(KindSession, err)
	}
	return s, nil
}

func (s *Session) field(key string, d *ipld.Decoder) (known bool, err error) {
	switch key {
	case "seq":
		s.Seq, err = d.Int()
	case "name":
		s.Name, err = d.String()
	case "prev":
		s.Prev, err = d.Link()
	case "task":
		s.Task, err = decodeGiven(d)
	case "time":
		var n int64
		n, err = d.Int()
		s.Time = graph.Time(n)
	case "actor":
		s.Actor, err = d.String()
	case "agent":
		s.Agent, err = decodeGiven(d)
	case "ended":
		if s.Ended, err = d.Bool(); err == nil && !s.Ended {
			err = d.Errorf("ended is left out unless true")
		}
	case "commit":
		s.Commit, err = d.Link()
	case "follow":
		s.Follow, err = d.Bool()
	case "receipt":
		s.Receipt, err = d.Link()
	default:
		return false, nil
	}
	return true, err
}

// decodeGiven reads an optional string, which is left out if it is empty.
func decodeGiven(d *ipld.Decoder) (string, error) {
	s, err := d.String()
	if err == nil && s == "" {
		err = d.Errorf("empty string in an optional field")
	}
	return s, err
}
