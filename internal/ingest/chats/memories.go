package chats

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mnem-project/mnem/ipld"
)

type serverMemory struct {
	handler   Handler
	entities  map[string]*serverEntity
	relations []Relation
	seen      map[Relation]bool
}

// serverEntity collects the lines about one entity.
type serverEntity struct{ types, observations []string }

func newServerMemory(h Handler) *serverMemory {
	return &serverMemory{handler: h, entities: make(map[string]*serverEntity), seen: make(map[Relation]bool)}
}

type serverMemoryLine struct {
	Type, Name, EntityType, From, To, RelationType string
	Observations                                   []string
}

func (s *serverMemory) line(data []byte, at position) error {
	var l serverMemoryLine
	if err := decode(data, &l); err != nil {
		return err
	}
	if l.Type == "entity" || l.Type == "relation" {
		fieldsOf("server-memory").tell(s.handler, data)
	}
	switch {
	case l.Type == "entity" && strings.TrimSpace(l.Name) != "":
		s.entity(&l)
	case l.Type == "relation" && l.From != "" && l.To != "" && strings.TrimSpace(l.RelationType) != "":
		if r := (Relation{l.From, flat(l.RelationType), l.To}); again(s.seen, r) {
			s.handler.Skipped(Duplicate, "")
		} else {
			s.relations = append(s.relations, r)
		}
	case l.Type != "" && l.Type != "entity" && l.Type != "relation":
		kinds(nil).skip(s.handler, l.Type, at.String())
	default:
		return errDamaged
	}
	return nil
}

func (s *serverMemory) entity(l *serverMemoryLine) {
	e := s.entities[l.Name]
	if e == nil {
		e = new(serverEntity)
		s.entities[l.Name] = e
	}
	if typ := flat(l.EntityType); typ != "" && !slices.Contains(e.types, typ) {
		e.types = append(e.types, typ)
	}
	for _, o := range l.Observations {
		if strings.TrimSpace(o) == "" {
			s.handler.Skipped(Empty, "")
			continue
		}
		e.observations = append(e.observations, o)
	}
}

// end emits the entities sorted by name, in whatever order the lines came. An entity with several types gets the first,
// and a list of all of them. An observation names its entity.
func (s *serverMemory) end() error {
	for _, name := range sortedKeys(s.entities) {
		e := s.entities[name]
		slices.Sort(e.types)
		m := &Memory{ID: name, Type: "entity", Text: flat(name)}
		if len(e.types) > 0 {
			m.Type = e.types[0]
		}
		if len(e.types) > 1 {
			var list []ipld.Value
			for _, t := range e.types {
				list = append(list, ipld.StringValue(t))
			}
			m.Meta = map[string]ipld.Value{"types": ipld.ListValue(list...)}
		}
		if err := s.handler.Memory(m); err != nil {
			return err
		}
		if err := s.observations(name, e); err != nil {
			return err
		}
	}
	for i := range s.relations {
		r := &s.relations[i]
		if s.entities[r.From] == nil || s.entities[r.To] == nil {
			s.handler.Skipped("relation without its entity", "")
			continue
		}
		if err := s.handler.Relation(r); err != nil {
			return err
		}
	}
	return nil
}

func (s *serverMemory) observations(name string, e *serverEntity) error {
	seen := make(map[string]bool, len(e.observations))
	for _, o := range e.observations {
		if again(seen, o) {
			s.handler.Skipped(Duplicate, "")
			continue
		}
		text := strings.TrimSpace(o)
		if !strings.Contains(strings.ToLower(text), strings.ToLower(flat(name))) {
			text = flat(name) + ": " + text
		}
		if err := s.handler.Memory(&Memory{ID: name + "\x00" + o, Text: text, About: name}); err != nil {
			return err
		}
	}
	return nil
}

// mem0Names are the members of a memory that are kept under another name.
var mem0Names = map[string]string{
	"user_id": "user", "agent_id": "agent", "run_id": "run", "app_id": "app", "actor_id": "actor", "updated_at": "updated",
}

// maxMeta is how many values of one memory are kept.
const maxMeta = 50

func mem0(record json.RawMessage, h Handler) error {
	var members map[string]json.RawMessage
	if err := decode(record, &members); err != nil {
		return err
	}
	r := mem0Reader{handler: h, members: members}
	m := &Memory{ID: r.text("id"), Meta: make(map[string]ipld.Value)}
	for _, name := range []string{"memory", "data", "text", "content"} {
		if m.Text == "" {
			m.Text = r.text(name)
		}
	}
	if m.ID == "" || m.Text == "" {
		return errDamaged
	}
	m.Time = r.time("created_at", false)
	m.ValidTo = r.time("expiration_date", true)
	var categories []string
	if json.Unmarshal(members["categories"], &categories) == nil {
		delete(members, "categories")
	}
	for _, c := range categories {
		if len(m.Tags) == maxTags {
			h.Skipped("category beyond 20", "")
			continue
		}
		m.Tags = append(m.Tags, flat(c))
	}
	var metadata map[string]json.RawMessage
	if json.Unmarshal(members["metadata"], &metadata) == nil {
		delete(members, "metadata")
	}
	for _, name := range sortedKeys(members) {
		if kind, left := kindsOf("mem0")[name]; left {
			h.Skipped(kind, "")
		} else {
			r.keep(m, cmp.Or(mem0Names[name], flat(name)), members[name])
		}
	}
	for _, name := range sortedKeys(metadata) {
		r.keep(m, "meta."+flat(name), metadata[name])
	}
	return h.Memory(m)
}

// maxTags is how many tags a memory has.
const maxTags = 20

type mem0Reader struct {
	handler Handler
	members map[string]json.RawMessage
}

// text takes a member that is a text or number.
func (r *mem0Reader) text(name string) string {
	data := r.members[name]
	var text string
	if json.Unmarshal(data, &text) != nil {
		var n json.Number
		if len(data) == 0 || data[0] == '"' || json.Unmarshal(data, &n) != nil {
			return ""
		}
		text = n.String()
	}
	if text = strings.TrimSpace(text); text != "" {
		delete(r.members, name)
	}
	return text
}

// time takes a member that is a time, in a text or in seconds or milliseconds since 1970. A day that something lasts
// for ends with the next one.
func (r *mem0Reader) time(name string, until bool) int64 {
	data := r.members[name]
	text := r.text(name)
	if text == "" {
		if len(data) > 0 && string(data) != "null" && string(data) != `""` {
			r.handler.Skipped("unreadable "+name, "")
		}
		delete(r.members, name)
		return 0
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return epoch(n)
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		if until {
			day = day.AddDate(0, 0, 1)
		}
		r.handler.Skipped("zone of a time, read as UTC", "")
		return max(0, day.UnixMicro())
	}
	at, zoned := momentOf(text)
	switch {
	case at == 0:
		r.handler.Skipped("unreadable "+name, "")
	case !zoned:
		r.handler.Skipped("zone of a time, read as UTC", "")
	}
	return at
}

// epoch is a time since 1970 in µs: of a number of seconds, or of one that only fits milliseconds, µs or ns.
func epoch(n float64) int64 {
	for _, unit := range []float64{1e6, 1e3, 1, 1e-3} {
		if us := n * unit; us > 0 && us < 1e17 {
			return int64(math.RoundToEven(us))
		}
	}
	return 0
}

// keep takes a value of any kind. Values other than text, numbers, booleans and lists of texts are stored as JSON.
func (r *mem0Reader) keep(m *Memory, name string, data json.RawMessage) {
	v, ok := metaValue(data)
	switch {
	case !ok:
		return // nothing
	case len(m.Meta) == maxMeta:
		r.handler.Skipped(fmt.Sprintf("value beyond %d", maxMeta), "")
	default:
		m.Meta[name] = v
	}
}

func metaValue(data json.RawMessage) (v ipld.Value, ok bool) {
	var text string
	var list []string
	var truth bool
	var n int64
	switch {
	case len(data) == 0 || string(data) == "null":
		return v, false
	case json.Unmarshal(data, &text) == nil:
		text = strings.TrimSpace(text)
		return ipld.StringValue(text), text != ""
	case json.Unmarshal(data, &truth) == nil:
		return ipld.BoolValue(truth), true
	case json.Unmarshal(data, &n) == nil:
		return ipld.IntValue(n), true
	case json.Unmarshal(data, &list) == nil:
		items := make([]ipld.Value, len(list))
		for i, s := range list {
			items[i] = ipld.StringValue(s)
		}
		return ipld.ListValue(items...), len(list) > 0
	}
	var short bytes.Buffer
	if json.Compact(&short, data) != nil {
		return v, false
	}
	return ipld.StringValue(short.String()), short.String() != "{}" && short.String() != "[]"
}
