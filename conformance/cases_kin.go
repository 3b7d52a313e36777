package main

import (
	"fmt"
	"strings"
)

// kinCases are those of clause 9.12.
func kinCases(s *suite) {
	home := batchText{
		said("dog", "the dog sleeps by the stove"), said("cat", "a cat sleeps on the sill"),
		said("pet", "no pet is let in"), said("met", "we met on the pier"), said("fee", "the berth fee is due"),
		said("both", "cost and price and fee of the mooring"), said("none", "gulls are about"),
	}
	feedback := func(q *request) { q.feedback = 2 }
	for _, c := range []struct {
		name, title string
		q           request
	}{
		{"class", "a class stands for its members", by2("pets")},
		{"member", "a member for its class, not for other members", by2("dogs")},
		{"line", "words of one line for each other", by2("rendezvous")},
		{"several", "a node may have several kin of one term", by2("charge for the mooring")},
		{"asked", "not where the text has both", by2("cost price fee")},
		{"first", "in ranking 2 alone", by2("pets", func(q *request) { q.ranking = 1 })},
		{"repeated", "a term that the text repeats", by2("pet pet gulls")},
		{"read", "by the term that another is read as", by2("sleps mooringg")},
		{"feedback", "feedback adds to what kin found", by2("rendezvous dog", feedback)},
		{"rewrites", "lanes of rewrites have none, their signs do", by2("rendezvous", inWords("animal", "pets"))},
		{"band", "a node that has kin alone accounts for part of the question", by2("rendezvous", atFloor(""))},
		{"band-some", "and for the rest by its own terms", by2("pet sleeps stove", atFloor("answer"))},
		{"expanded", "kin do not spread", by2("pets stove", rounds(2))},
		{"recall", "a recall is told what kin account for", by2("rendezvous zebra okapi", asks("general"))},
		{"filtered", "a node with kin passes or not like others", by2("rendezvous", func(q *request) { q.types = []string{"Other"} })},
	} {
		s.retrieval("9.12", "score", "kin-"+c.name, c.title, c.q, false, home)
	}
	many := append(batchText(nil), home...)
	for i := range 12 {
		many = append(many, said(fmt.Sprint("m", i), "a pet is here "+rep("again ", i)))
	}
	s.retrieval("9.12", "score", "kin-common", "kin of a common term weigh no more than it", by2("pet gulls"), false, many)
	words := strings.Fields("dog sail rent doctor invoice server meal price meeting deadline bug car train boss")
	var told batchText
	for i, w := range words {
		told = append(told, said(fmt.Sprint("t", i), "about "+w+" and "+words[(i+5)%len(words)]))
	}
	for i, question := range []string{
		"who is the manager", "vehicle", "how much does lunch cost", "physician", "bill due date", "rail lease",
		"defect of the host", "canine food", "appointment with the supervisor",
	} {
		s.retrieval("9.12", "score", fmt.Sprint("kin-asked-", i), question, by2(question, atFloor("")), false, told)
	}
}
