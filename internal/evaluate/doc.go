// Package evaluate measures retrieval against questions whose answers are known. Each pair of a
// change file and a query file becomes a repository in memory, every query is answered from it, and
// the ranks of the known answers give the metrics that the field compares systems by:
//
//	R@5, R@10        the share of a query's known answers among its first 5 or 10 items
//	All@10           1 if all of them are among the first 10, else 0
//	MRR              1/rank of the first known answer, 0 if none was found
//	nDCG@10          the sum of 1/log2(rank+1) over the known answers among the first 10, divided
//	                 by what it would be if they came first
//	R@1024           the share among the items that fit into 1,024 tokens of rendered text, taken
//	                 in rank order, skipping what does not fit
//	session R@5, 10  the share of the known sessions among the first 5 or 10, a session having the
//	                 rank of its best item
//
// each averaged over the queries that have it. A key of the form SESSION:TURN belongs to a session;
// if a query names its sessions, items without a colon in their key are sessions themselves and
// take no rank from the turns.
//
// Memories measures what an agent is shown instead. Memories are remembered one by one, and questions asked
// as recall does with its usual limit and budget; the figures are means over the questions that have one:
//
//	R@1, R@5, R@10   the share of gold among the first k items, of at most k
//	MRR              as above
//	prec, tprec      the share of gold and welcome memories among the printed items, and their tokens
//	noise            items that are neither
//	silent, muted    questions without and with gold for which no item is presented as an answer, which
//	                 an item with the band answer is, and any item without a band
//	hint             muted questions with an item of gold in the band maybe
//	stale            questions with an outdated memory that is not shown as outdated and comes before
//	                 gold, or without it
//	known, lost      questions with gold whose verdict is known, or unknown
//	right            of the known ones, those with an item of gold among the first two
//	false            questions without gold whose verdict is known
//	items, tokens    what is printed
//
// All sums are exact fractions, and are rounded only when they are printed: the same memory,
// questions and ranking give the same figures on every machine.
package evaluate
