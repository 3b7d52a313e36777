package ops

// What the help says of questions.
const (
	retrieveDoc = "Find the nodes that fit a query, its filters, or both, and print them as text for a language\n" +
		"model, best first, until --limit items are printed or --budget tokens are used. Without a\n" +
		"query the newest nodes that pass the filters. A query - is read from standard input.\n\n" +
		"Nodes that fit lend to their neighbours what the query asked for and these lack: over edges,\n" +
		"and where the content of one mentions the title of another. So the two halves of an answer\n" +
		"find each other; --expand says how far. --expansion decay adds to a node the score of another found\n" +
		"one, times --decay and the edge's weight for each hop of the best path between them; ppr adds\n" +
		"what reaches it by personalised PageRank.\n\n" +
		"The answer depends on the commit and the request alone: the same bytes in every process.\n" +
		"In a session (--session or MNEM_SESSION) it comes from the session's commit and leaves a\n" +
		"receipt that 'mnem replay' runs again.\n\n" +
		"A PREDICATE is NAME OP VALUE with a JSON value, as in 'team = \"infra\"' or 'due < \"2027\"';\n" +
		"OP is one of = != < <= > >= in prefix exists !exists. NAME is a property, in quotes as JSON where\n" +
		"need be; out.TYPE and in.TYPE are how many edges of a type a node has, as in 'in.mentions >= 3'\n" +
		"or 'out.owns exists', of those that no mark hides, nor what is at their other end. 'mnem schema'\n" +
		"tells what names there are. A TIME is of RFC 3339 or a date.\n\n" +
		"What is left over is chosen by --exclude (nodes to leave out), --unseen (what the session was\n" +
		"shown before), --dedup (what has the words of an item before it, with the same capitalised\n" +
		"names, numbers and common negations) and --mmr (0.7 gives relevance seven parts of ten, and\n" +
		"being unlike the items before three). --explain names what was dropped, and why.\n\n" +
		"--pack passages prints of each summary and content only the passages that fit the query best,\n" +
		"with <...> for what is left out. --order document prints items that edges join side by side, in\n" +
		"the order in which they were created. --tokenizer counts tokens as cl100k or o200k do, exactly.\n\n" +
		"--vector ranks by embeddings too: FILE, or - for standard input, has the query as that MODEL\n" +
		"embeds it, a JSON list of numbers. Nodes are compared by the embeddings of that model that\n" +
		"'mnem help changes' tells how to commit. Without a QUERY the vector decides alone. The first\n" +
		"query of a process at a commit reads all vectors of the model once.\n\n" +
		"--embed makes that vector from the QUERY, by a model of 'mnem embed': --embed=SPEC, or --embed\n" +
		"alone for the one that config embed.model names. A server is told the query. Where a model fails,\n" +
		"standard error says so and the answer comes without it; a receipt keeps the vector, so that\n" +
		"replay asks nobody.\n\n" +
		"--sparse does the same with learned-sparse vectors, JSON objects of term to weight. The lane\n" +
		"entity ranks by the names, quoted phrases, identifiers and numbers of the QUERY that a node has\n" +
		"word for word; it is off unless --weight entity=W asks for it.\n\n" +
		"--community raises the nodes in the communities of the best ones, and adds others that no word\n" +
		"found, the best connected first; 'mnem communities' lists them. --summarize sums the answer up\n" +
		"in sentences of its items that say most of them, with the ids of the nodes they are from; it\n" +
		"asks no model, and its tokens come beside the budget.\n\n" +
		"--rerank judges the best items anew: local by how many of the query's words they have and how near\n" +
		"to each other; a model by reading them, for which its server is told the query and the texts of\n" +
		"these items (keys: COHERE_API_KEY, JINA_API_KEY, VOYAGE_API_KEY). --also searches for other texts\n" +
		"beside the query, together half as much worth as it; --rewrite multi lets a chat model make them\n" +
		"from the query, --rewrite hyde a made-up answer, and --embed then looks for what is like either. A\n" +
		"model that fails changes nothing and says so; a receipt keeps what it answered.\n\n" +
		"Dates in the QUERY count: in May 2023, since 2022, last week, 上个月. What was found and is of that\n" +
		"time, by its validity or else its creation, comes up; a QUERY that is nothing but a date is\n" +
		"answered by date alone. Days are UTC's; --now says from which to count, --weight time=0 leaves\n" +
		"dates alone, and --explain shows how they were read.\n\n" +
		"--feedback N searches again with the words that tell the most of the best N nodes beside the\n" +
		"QUERY's own, together an eighth as much worth. It finds what says the same in other words, and\n" +
		"drifts where the first search was wrong.\n\n" +
		"--fusion convex weighs what each lane gives of its best score, score-norm what lies between its\n" +
		"worst and best; rrf and weighted-rrf count ranks. The text weighs 1, all vectors of\n" +
		"either kind together 0.5, unless --weight says otherwise; a lane of weight 0 does not run. rrf\n" +
		"has no weights but time's.\n\n" +
		"--batch reads one JSON object a line: \"qid\", \"text\", \"vectors\" (an object: model to list of\n" +
		"numbers), \"sparse\" (model to object of term to number), \"weights\" (lane to number), \"rewrites\"\n" +
		"(what --also gives), \"reranked\" (id to the score that the model \"rerank\" gave it) and any of the\n" +
		"other flags that select, rank or print, by name; \"cat\", \"meta\" and \"gold…\" come back with the\n" +
		"answer. What a line does not say, the command line does.\n\n" +
		"--with-global asks the user's own repository ('mnem init --global') too and makes one list of both\n" +
		"answers, under one limit and budget. The scores of each repository count as much as its best item\n" +
		"covers the QUERY. Of --session and --receipt it records what the project alone answered.\n\n" +
		"What no flag says is taken from a profile, which --profile names: see 'mnem help profile'."

	retrieveExample = "  mnem retrieve who owns billing\n" +
		"  mnem retrieve billing --dedup --mmr 0.7 --order time\n" +
		"  mnem retrieve billing --session review --unseen\n" +
		"  mnem retrieve billing --pack passages --passage-tokens 120 --tokenizer o200k\n" +
		"  mnem retrieve 'storage migration' --type Decision --adjacency 3\n" +
		"  mnem retrieve --type Task --where 'status = \"open\"' --limit 5\n" +
		"  mnem retrieve billing --at HEAD~1 --budget 500 --json\n" +
		"  mnem retrieve 'double charge' --explain\n" +
		"  mnem retrieve 'double charge' --vector minilm=@query.json" +
		"\n  mnem retrieve 'charged twice' --embed=hash" +
		"\n  mnem retrieve 'charged twice' --also 'duplicate payment' --rerank local" +
		"\n  mnem retrieve 'Alice Ng, ticket INC-4711' --weight entity=1"

	recallDoc = "Find what answers a question as 'mnem retrieve' does, and rank it anew by what the question asks\n" +
		"for. Its words tell the intent: why for a reason, when for a time, entity for who, what, which or\n" +
		"where, and general for anything else, in English, Chinese, German, French, Spanish and seven\n" +
		"more languages; --intent overrides them.\n\n" +
		"From the best nodes a beam search follows edges, those of the intent the furthest: causes, enables\n" +
		"and prevents for why; follows and near for when; mentions and about for entity; similar the\n" +
		"least; all others alike. What it reaches comes up or joins, the more the intent asks for links.\n" +
		"So do nodes that have the names, numbers and identifiers of the question, and those whose\n" +
		"vectors are close. For why, causes come before their effects where both fit the question on\n" +
		"their own.\n\n" +
		"Each item has four signals in units of 2^-16: keyword, its score before, as a share of the best;\n" +
		"entity, the share of the names that it has; similarity, of its vectors; and graph, what links\n" +
		"bring it. Where nothing has a signal its weight goes to the others. --explain shows the weights\n" +
		"and the way of each item. Where no item has the telling words of the question a warning says\n" +
		"that nothing relevant is known. Nodes that are nothing but the name of an entity or a tag are no\n" +
		"items, unless --type asks for them.\n\n" +
		"Filters, budget, sessions, receipts, profiles and batches are those of 'mnem retrieve', whose\n" +
		"help says what the other flags do; 'mnem retrieve --intent auto' is the same."

	recallExample = "  mnem recall why did the deploy fail\n" +
		"  mnem recall 'when did Alice join?' --limit 5\n" +
		"  mnem recall '谁负责计费服务？'\n" +
		"  mnem recall 'deploy failure' --intent why --explain\n" +
		"  mnem recall 'who owns billing' --session review --json"
)
