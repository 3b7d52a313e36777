// Package retrieve has the requests, answers and receipts of retrieval: what is asked of a commit, what comes
// back, and the record by which that can be answered again. The packages of internal/rank answer.
//
// The same commit and request give the same bytes in every process, on every machine: everything ranked is an
// integer, and every order is total. docs/internals/ranking.md describes every step; requests and receipts have the form
// of clauses 8, 13 and 23 of the specification.
//
// # Recall
//
// A request with an Intent is a recall. What it asks for (why, when, who or what) decides how far links of which
// type are followed. Each item's Recalled has the signals that raised it; nothing that was found is lowered.
//
// # Models
//
// What a model says enters as a part of the request: vectors, rewrites of the query, and what a reranker said of
// the best candidates. A Reranker is the one thing that is asked in the middle of a run, since it reads what was
// found; its scores are in the answer's resolved request, and that request gives the same answer with nobody
// asked. If a model fails, the request lacks what it would have said, and the answer warns.
//
// # Hidden states
//
// Nodes and edges marked forgotten, superseded, expired or retired are left out of answers, unless the request
// lets the state through. Nodes marked stale or contradicted are shown with a state line.
//
// # Records
//
// A Receipt is a dag-cbor record of kind "receipt", version 1; the raw block of the query's text is apart. A
// Session is one of kind "session": one link of a chain from the newest record back. Profiles are one of kind
// "profile", which a commit links to: defaults for requests.
package retrieve
