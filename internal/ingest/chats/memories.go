package chats

import (
	"encoding/json"
	"strings"
)

// serverMemory reads the file of the MCP server memory.
type serverMemory struct {
	handler   Handler
	known     map[string]bool
	relations []Relation
}

type serverMemoryLine struct {
	Type, Name, EntityType, From, To, RelationType string
	Observations                                   []string
}

func (s *serverMemory) line(data []byte, _ position) error {
	var l serverMemoryLine
	if err := decode(data, &l); err != nil {
		return err
	}
	switch {
	case l.Type == "entity" && strings.TrimSpace(l.Name) != "":
		return s.entity(&l)
	case l.Type == "relation" && l.From != "" && l.To != "" && strings.TrimSpace(l.RelationType) != "":
		s.relations = append(s.relations, Relation{l.From, flat(l.RelationType), l.To})
		return nil
	}
	return errDamaged
}

func (s *serverMemory) entity(l *serverMemoryLine) error {
	if s.known == nil {
		s.known = make(map[string]bool)
	}
	s.known[l.Name] = true
	typ := flat(l.EntityType)
	if typ == "" {
		typ = "entity"
	}
	err := s.handler.Memory(&Memory{ID: l.Name, Type: typ, Text: flat(l.Name)})
	for _, o := range l.Observations {
		if strings.TrimSpace(o) == "" {
			s.handler.Skipped("an observation without text", "")
			continue
		}
		if err == nil {
			err = s.handler.Memory(&Memory{ID: l.Name + "\x00" + o, Text: strings.TrimSpace(o), About: l.Name})
		}
	}
	return err
}

func (s *serverMemory) begun() Place { return Place{} }

func (s *serverMemory) end() error {
	for i := range s.relations {
		r := &s.relations[i]
		if !s.known[r.From] || !s.known[r.To] {
			s.handler.Skipped("a relation of an entity that is not there", "")
			continue
		}
		if err := s.handler.Relation(r); err != nil {
			return err
		}
	}
	return nil
}

type mem0Record struct {
	ID, Memory string
	CreatedAt  string `json:"created_at"`
	UserID     string `json:"user_id"`
	AgentID    string `json:"agent_id"`
	RunID      string `json:"run_id"`
	Categories []string
	Metadata   map[string]json.RawMessage
}

// mem0 reads one memory of mem0.
func mem0(record json.RawMessage, h Handler) error {
	var r mem0Record
	if err := decode(record, &r); err != nil {
		return err
	}
	if r.ID == "" || strings.TrimSpace(r.Memory) == "" {
		return errDamaged
	}
	m := &Memory{
		ID: r.ID, Text: strings.TrimSpace(r.Memory), Time: moment(r.CreatedAt),
		Meta: make(map[string]string),
	}
	for _, c := range r.Categories[:min(len(r.Categories), 20)] {
		m.Tags = append(m.Tags, flat(c))
	}
	for name, v := range map[string]string{"user": r.UserID, "agent": r.AgentID, "run": r.RunID} {
		if v = flat(v); v != "" {
			m.Meta[name] = v
		}
	}
	for _, name := range sortedKeys(r.Metadata) {
		if v := flat(plain(r.Metadata[name])); v != "" && len(m.Meta) < 50 {
			m.Meta["meta."+flat(name)] = v
		}
	}
	return h.Memory(m)
}
