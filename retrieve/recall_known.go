package retrieve

// NothingRelevant is the warning of a recall whose items do not tell what was asked: clause 26.6.
const NothingRelevant Code = "nothing_relevant"

// recallInfos documents the code of this file.
var recallInfos = []WarningInfo{{
	Code: NothingRelevant,
	When: "no item of a recall has three tenths of what the question's words tell, or a vector close " +
		"to the question's",
	Message: "nothing relevant is known: no item has more than %d% of what the question's words tell",
	Remedy: "take it as unknown; or ask in other words, add some with --also, or compare vectors with " +
		"--embed",
	Param: "covered",
}}
