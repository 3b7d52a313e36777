// Package evaluate measures retrieval against questions whose answers are known. Each pair of a
// change file and a query file becomes a repository in memory, every query is answered from it, and
// the ranks of the known answers give the metrics that the field compares systems by:
//
//	R@5, R@10        the share of a query's known answers among its first 5 or 10 items
//	All@10           1 where all of them are among the first 10, else 0
//	MRR              1/rank of the first known answer, 0 where none was found
//	nDCG@10          the sum of 1/log2(rank+1) over the known answers among the first 10, divided
//	                 by what it would be if they came first
//	R@1024           the share among the items that fit into 1,024 tokens of rendered text, taken
//	                 in rank order, skipping what does not fit
//	session R@5, 10  the share of the known sessions among the first 5 or 10, a session having the
//	                 rank of its best item
//
// each averaged over the queries that have it. A key of the form SESSION:TURN belongs to a session;
// where a query names its sessions, items without a colon in their key are sessions themselves and
// take no rank from the turns.
//
// All sums are exact fractions, and are rounded only when they are printed: the same memory,
// questions and ranking give the same figures on every machine.
package evaluate
