// Package evaluate measures retrieval against questions whose answers are known. Each pair of a change file and a query
// file becomes a repository in memory, every query is answered from it, and the ranks of the known answers give the
// metrics, which docs/reference/bench.md defines. A key of the form SESSION:TURN belongs to a session, which has the rank
// of its best item; if a query names its sessions, items without a colon in their key are sessions themselves and take no
// rank from the turns.
//
// Memories measures what an agent is shown instead. Memories are remembered one by one, and questions asked as recall does
// with its usual limit and budget; docs/reference/bench.md defines the figures of AnswerMetric, which are means over the
// questions that have one.
//
// All sums are exact fractions, and are rounded only when they are printed: the same memory,
// questions and ranking give the same figures on every machine.
package evaluate
