package main

import (
	"fmt"
	"slices"
)

// checkFacts is what clause 27 is asked about.
var checkFacts = batchText{
	`{"node":{"key":"bill","type":"fact","summary":"Alice owns the billing service and is on call for it every second week."}}`,
	`{"node":{"key":"search","type":"fact","summary":"Bob looks after the search index. Who owns the backups?"}}`,
	`{"node":{"key":"move","type":"decision","summary":"We moved billing from MySQL 5.7 to PostgreSQL 16 on 3 March 2025, because of the locks."}}`,
	`{"node":{"key":"friday","type":"fact","summary":"Deployments are not allowed on Friday.","props":{"tags":["release","ops"]}}}`,
	`{"node":{"key":"zh","type":"fact","summary":"爱丽丝负责计费系统，每两周值班一次。"}}`,
	`{"node":{"key":"ja","type":"fact","summary":"東京タワーの高さは333メートルです。"}}`,
	`{"node":{"key":"de","type":"fact","summary":"Das Auto von Anna steht in der Garage."}}`,
	`{"node":{"key":"fr","type":"fact","summary":"Le serveur alpha utilise une base de données depuis mars."}}`,
	`{"node":{"key":"es","type":"fact","summary":"La impresora de la segunda planta necesita papel grueso."}}`,
	`{"node":{"key":"tide","type":"event","summary":"The tide mill was repaired.","created":"2024-06-05T10:00:00Z"}}`,
	`{"node":{"key":"lease","type":"fact","summary":"The boathouse is leased to the rowing club.","validFrom":"2023-01-01T00:00:00Z","validTo":"2024-01-01T00:00:00Z"}}`,
	`{"node":{"key":"long","type":"note","summary":"Kiln","content":"The kiln is old. It rained. It rained again. The glaze ran. Then it snowed. Blue was the sky. The roof held."}}`,
	`{"node":{"key":"old","type":"fact","summary":"The ferry leaves from the western pier."}}`,
	`{"mark":{"node":"old","state":"stale"}}`,
	`{"node":{"key":"entity/harbour","type":"Entity","summary":"Harbour Office"}}`,
	`{"node":{"key":"tag/ops","type":"Tag","summary":"ops"}}`,
	`{"node":{"key":"office","type":"fact","summary":"The Harbour Office closes in August, says ops."}}`,
	`{"edge":{"type":"mentions","src":"office","dst":"entity/harbour"}}`,
	`{"edge":{"type":"about","src":"bill","dst":"move"}}`,
}

// checkCases are those of clause 27.
func checkCases(s *suite) {
	weightCases(s)
	for i, text := range []string{
		"who owns billing?", "does Bob own billing?", "who owns the backups?", "what is the capital of Peru?",
		"when did billing move to PostgreSQL?", "when did billing move to PostgreSQL 17?",
		"did billing move to PostgreSQL 16 in 2025?", `are deployments "not allowed on Friday"?`,
		`are "deployments on Friday" allowed?`, "are deployments allowed on Friday?",
		"Deployments are allowed on Friday", "Deployments are not allowed on Friday.",
		"how many deployments are allowed on Friday?", "Are release deployments allowed?", "Alice?",
		"谁负责计费系统？", "谁负责搜索？", "计费系统由爱丽丝负责", "東京タワーの高さは何メートルですか", "どこですか",
		"Wo steht das Auto von Anna?", "Welche Farbe hat das Auto von Anna?",
		"Quel serveur utilise une base de données ?", "¿Qué impresora necesita papel grueso?",
		"was the tide mill repaired in June 2024?", "was the tide mill repaired in July 2024?",
		"was the boathouse leased to the rowing club in May 2023?",
		"is the boathouse leased to the rowing club in 2025?", "does the old kiln have a blue glaze on the roof?",
		"where does the ferry leave from?", "bill", "ANNA AND THE GARAGE", "where is the garag of Anna?",
		"was there snow and a blue sky?", "Owns alice the billing service", "who is on call for PostgreSQL 5.7",
		"the ferry never leaves from the western pier", "when does the Harbour Office close?", "ops",
		"entity/harbour", "",
	} {
		if text != "" {
			s.check(clauseOfCheck(i), fmt.Sprintf("ask-%02d", i), "a question", newRequest(text), checkDefaults)
		}
	}
	for i, t := range []limits{
		{65536, 0, 0, 0, 0}, {0, 20 * one, 0, 0, 0}, {0, 0, 65536, 0, 0}, {0, 0, 0, 65536, 0},
		{0, 0, 0, 0, 30 * one}, {0, 0, 0, 0, 0},
	} {
		s.check("27.5", fmt.Sprintf("limits-%d", i), "other thresholds",
			newRequest("does Bob own billing?"), t)
		s.check("27.5", fmt.Sprintf("limits-plain-%d", i), "other thresholds",
			newRequest("who owns the billing service?"), t)
	}
	more := []string{
		`{"node":{"key":"mill","type":"fact","summary":"The windmill belongs to the weavers of Ghent."}}`,
		`{"node":{"key":"barn","type":"fact","summary":"The granary belongs to the bakers of Bruges."}}`,
		`{"mark":{"node":"mill","state":"contradicted","by":"gone"}}`,
		`{"mark":{"node":"barn","state":"contradicted","by":"tide"}}`,
		`{"node":{"key":"gone","type":"note"}}`, `{"mark":{"node":"gone","state":"forgotten"}}`,
	}
	for i, text := range []string{
		"The windmill belongs to the weavers of Ghent.", "The granary belongs to the bakers of Bruges.",
	} {
		s.check("27.4", fmt.Sprintf("contradicted-%d", i), "by what is hidden, and by what is not",
			newRequest(text), checkDefaults, more...)
	}
	addresseeCases(s)
	calibrationRecords(s)
}

// addresseeCases are memories that speak to somebody, who is not the one who did it.
func addresseeCases(s *suite) {
	said := []string{
		`{"node":{"key":"turn/1","type":"Turn","summary":"Hey Melanie, I invited the neighbours to the pottery workshop.","props":{"speaker":"Caroline"}}}`,
		`{"node":{"key":"turn/2","type":"Turn","summary":"Thank you, Ann Lee! The telescope arrived yesterday.","props":{"speaker":"Gina"}}}`,
		`{"node":{"key":"turn/3","type":"Turn","summary":"Hi Mark is repairing the sailboat.","props":{"speaker":"Gina"}}}`,
		`{"node":{"key":"turn/4","type":"Turn","summary":"Hello Otto's goat ate the marigolds.","props":{"speaker":"Gina"}}}`,
		`{"node":{"key":"turn/5","type":"Turn","summary":"Wow! Berta! Berta painted the greenhouse.","props":{"speaker":"Gina"}}}`,
		`{"node":{"key":"turn/6","type":"Turn","summary":"Melanie, Caroline and Jon planted the orchard.","props":{"speaker":"Gina"}}}`,
	}
	for i, text := range []string{
		"Who did Melanie invite to the pottery workshop?", "Who did Caroline invite to the pottery workshop?",
		"When did the telescope of Ann Lee arrive?", "When did the telescope of Gina arrive?",
		"Is Mark repairing the sailboat?", "Did Otto's goat eat the marigolds?",
		"Did Berta paint the greenhouse?", "Did Melanie plant the orchard?",
	} {
		s.check("27.3", fmt.Sprintf("addressee-%d", i), "who is spoken to did not do it", newRequest(text),
			checkDefaults, said...)
	}
}

func clauseOfCheck(i int) string { return []string{"27.2", "27.3", "27.4", "27.5"}[i%4] }

func weightCases(s *suite) {
	for i, c := range [][2]uint64{{0, 0}, {1, 0}, {1, 1}, {10, 3}, {600, 1}, {600, 599}, {1_000_000, 0},
		{1_000_000, 1}, {1_000_000, 1_000_000}} {
		all := c[0] + 256
		s.add("27.1", "check-weight", fmt.Sprintf("word-%d", i), "what a word tells",
			obj{"nodes": c[0], "having": c[1]},
			obj{"weight": max(1, logQ16(2*all+2)-logQ16(2*c[1]+1)), "floor": logQ16(all)})
	}
}

func (s *suite) check(clause, name, title string, q request, t limits, more ...string) {
	facts := slices.Concat(checkFacts, more)
	st := built(facts)
	verdict, list := q.check(st, t)
	expect := obj{"verdict": verdict}
	var order []any
	for i, e := range list {
		o := obj{"id": uuid(e.id), "coverage": e.coverage, "evidence": e.evidence}
		if i == 0 {
			missing := []any{}
			if verdict != "STRONG" {
				for _, l := range e.lacks {
					missing = append(missing, []any{l.kind, l.text})
				}
			}
			expect["lead"], expect["missing"] = e.lead, missing
		}
		order = append(order, o)
	}
	expect["memories"] = order
	s.add(clause, "check", name, title, obj{"author": "erin",
		"batches":    []any{obj{"time": t0, "lines": facts}},
		"text":       q.text,
		"thresholds": t[:],
	}, expect)
}

// calibrationRecords are profiles that have thresholds of check.
func calibrationRecords(s *suite) {
	full := dict{"coverage": 40000, "evidence": 0, "lead": 65536, "weakCoverage": 1, "weakEvidence": 4194304,
		"cosines": dict{"minilm": 30000}}
	for _, c := range []struct {
		name, title string
		check       dict
	}{
		{"thresholds", "all thresholds", full},
		{"thresholds-some", "the others are built in", dict{"lead": 0}},
		{"thresholds-later", "one of a later version is passed over", dict{"lead": 5, "mood": "x"}},
	} {
		want := obj{"coverage": checkDefaults[0], "evidence": checkDefaults[1], "lead": checkDefaults[2],
			"weakCoverage": checkDefaults[3], "weakEvidence": checkDefaults[4], "cosines": obj{}}
		for k, v := range c.check {
			if k != "mood" {
				want[k] = v
			}
		}
		s.add("27.6", "check-thresholds", c.name, c.title,
			obj{"block": pieces(encode(profiles(dict{}, dict{"check": c.check})))}, want)
	}
	for name, check := range map[string]any{
		"low": dict{"lead": -1}, "high": dict{"coverage": 65537}, "evidence": dict{"evidence": 4194305},
		"kind": dict{"weakCoverage": "much"}, "cosine": dict{"cosines": dict{"m": 65537}},
		"model": dict{"cosines": dict{"": 1}}, "list": []any{1},
	} {
		s.refuse("27.6", "check-thresholds", "bad-"+name, "thresholds that are none", "thresholds",
			obj{"block": pieces(encode(profiles(dict{}, dict{"check": check})))})
	}
}
