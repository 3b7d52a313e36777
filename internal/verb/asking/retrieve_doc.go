package asking

// What the help says of questions.
const (
	retrieveDoc = "Find the nodes that match a query, its filters, or both, and print them as text for a language\n" +
		"model, best first, until --limit items are printed or --budget tokens are used. Without a\n" +
		"query the newest nodes that pass the filters. A query - is read from standard input.\n\n" +
		"Matching nodes pass query terms on to neighbours that lack them: over edges, and where the\n" +
		"content of one node mentions the title of another. So the two halves of an answer are found\n" +
		"together; expand sets the number of rounds. expansion=decay instead adds to a node the score\n" +
		"of another match, times decay and the edge's weight for each hop of the best path between them;\n" +
		"ppr adds what reaches it by personalised PageRank.\n\n" +
		"The answer depends on the commit and the request alone: the same bytes in every process.\n" +
		"In a session (--session or MNEM_SESSION) it comes from the session's commit and leaves a\n" +
		"receipt that 'mnem session replay' runs again.\n\n" +
		"A PREDICATE is NAME OP VALUE with a JSON value, as in 'team = \"infra\"' or 'due < \"2027\"';\n" +
		"OP is one of = != < <= > >= in prefix exists !exists. NAME is a property, in JSON quotes if\n" +
		"needed, or out.TYPE or in.TYPE: the number of a node's edges of a type, as in 'in.mentions >= 3'\n" +
		"or 'out.owns exists'. Hidden edges, and edges to hidden nodes, are not counted. 'mnem stats --schema'\n" +
		"lists the names. A TIME is an RFC 3339 time or a date.\n\n" +
		"Items can be left out with --exclude (these nodes), --unseen (what the session was shown\n" +
		"before) and dedup (items with the words of an earlier item and the same capitalised names,\n" +
		"numbers and common negations). --explain names what was left out, and why.\n\n" +
		"pack=passages prints of each summary and content only the passages that match the query best,\n" +
		"with <...> for what is left out.\n\n" +
		"--vector also ranks by embeddings: FILE, or - for standard input, holds the query's vector of\n" +
		"that MODEL, a JSON list of numbers, or for a learned-sparse model an object of term to weight. It\n" +
		"is compared with the embeddings of that model in the commit ('mnem help changes'). Without a QUERY the\n" +
		"vector decides alone. The first query of a process at a commit reads all vectors of the model once.\n\n" +
		"--embed makes that vector from the QUERY with a model of 'mnem embed': --embed=SPEC, or --embed\n" +
		"alone for config embed.model. A remote model receives the query. If the model fails, standard\n" +
		"error says so and the answer is made without it. A receipt keeps the vector, so replay needs no\n" +
		"model.\n\n" +
		"community raises nodes in the communities of the best ones, and adds others that no word\n" +
		"found, the best connected first; 'mnem explore --communities' lists them.\n\n" +
		"rerank lets a model reorder the best items by reading them: its server receives the query\n" +
		"and the texts of these items (keys: COHERE_API_KEY, JINA_API_KEY, VOYAGE_API_KEY). --also\n" +
		"searches for other texts besides the query, together worth half as much; rewrite=multi lets a\n" +
		"chat model make them from the query; rewrite=hyde makes up an answer, and --embed then\n" +
		"looks for vectors near either. If\n" +
		"a model fails, the answer says so and is made without it; a receipt keeps its replies.\n\n" +
		"Dates in the QUERY count: in May 2023, since 2022, last week, 上个月. Matches of that time, by\n" +
		"their validity or else their creation, rank higher; a QUERY that is only a date is answered by\n" +
		"date alone. Days are in UTC; now sets the day to count from, weight=time=0 ignores dates,\n" +
		"and --explain shows how they were read.\n\n" +
		"fusion=convex divides each score by the best of its lane, score-norm uses the range between\n" +
		"the worst and the best; rrf and weighted-rrf use ranks. The text weighs 1 and all vectors of\n" +
		"either kind together 0.5, unless weight says otherwise; a lane of weight 0 does not run. rrf\n" +
		"has no weight but that of time.\n\n" +
		"--batch reads one JSON object a line: \"qid\", \"text\", \"vectors\" (an object: model to list of\n" +
		"numbers), \"sparse\" (model to object of term to number), \"weights\" (lane to number), \"rewrites\"\n" +
		"(the texts of --also), \"reranked\" (id to the score that the model \"rerank\" gave it) and any\n" +
		"other parameter that selects, ranks or prints, by name; \"cat\", \"meta\" and \"gold…\" are returned with\n" +
		"the answer. A line takes what it does not set from the command line.\n\n" +
		"--with-global also asks the user's own repository ('mnem init --global') and makes one list of\n" +
		"both answers, under one limit and budget. The scores of each repository are scaled by how much\n" +
		"of the QUERY its best item covers. --session and --receipt record only the project's answer.\n\n" +
		"What is named above without dashes is a parameter that --set NAME=VALUE gives: 'mnem retrieve --help\n" +
		"parameters' lists them all. Those that are not given come from a profile, named by --profile: see\n" +
		"'mnem config profile --help'."

	retrieveExample = "  mnem retrieve who owns billing\n" +
		"  mnem retrieve billing --set dedup --set order=time\n" +
		"  mnem retrieve billing --session review --unseen\n" +
		"  mnem retrieve billing --set pack=passages --set passage-tokens=120\n" +
		"  mnem retrieve 'storage migration' --type Decision --adjacency 3\n" +
		"  mnem retrieve --type Task --where 'status = \"open\"' --limit 5\n" +
		"  mnem retrieve billing --at HEAD~1 --budget 500 --json\n" +
		"  mnem retrieve 'double charge' --explain\n" +
		"  mnem retrieve 'double charge' --vector minilm=@query.json" +
		"\n  mnem retrieve 'charged twice' --embed=hash" +
		"\n  mnem retrieve 'charged twice' --also 'duplicate payment'"

	recallDoc = "Find what answers a question as 'mnem retrieve' does, and rank it by the kind of answer that the\n" +
		"question asks for. Its words tell the intent: why for a reason, when for a time, entity for who,\n" +
		"what, which or where, and general for anything else, in English, Chinese, German, French, Spanish\n" +
		"and seven more languages; --intent overrides them.\n\n" +
		"From the best nodes a beam search follows edges, and those that suit the intent furthest: causes,\n" +
		"enables and prevents for why; follows and near for when; mentions and about for entity; similar\n" +
		"the least; all others alike. Nodes that it reaches rank higher or join the list, the more so the\n" +
		"more the intent depends on links. So do nodes that have the names, numbers and identifiers of the\n" +
		"question, and nodes with close vectors. For why, a cause comes before its effect if both match\n" +
		"the question on their own.\n\n" +
		"Each item has four signals in units of 2^-16: keyword, its score before, as a share of the best;\n" +
		"entity, the share of the question's names that it has; similarity, of its vectors; and graph,\n" +
		"what links add. If nothing has a signal, its weight goes to the others. --explain shows the\n" +
		"weights and the path to each item. If no item has the telling words of the question, a warning\n" +
		"says that nothing relevant is known. Nodes that are only the name of an entity or a tag are not\n" +
		"items, unless --type asks for them.\n\n" +
		"Filters, budget, sessions, receipts, profiles and batches are those of 'mnem retrieve', whose\n" +
		"help describes them; 'mnem retrieve --intent auto' does the same. --set NAME=VALUE sets one of its\n" +
		"parameters here too: 'mnem recall --help parameters' lists them."

	recallExample = "  mnem recall why did the deploy fail\n" +
		"  mnem recall 'when did Alice join?' --limit 5\n" +
		"  mnem recall '谁负责计费服务？'\n" +
		"  mnem recall 'deploy failure' --intent why --explain\n" +
		"  mnem recall 'who owns billing' --session review --json"
)
