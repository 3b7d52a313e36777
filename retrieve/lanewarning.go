package retrieve

// Warnings about sparse and entity lanes: clause 11.1.
const (
	NoSparse       Code = "no_sparse_vectors"
	NoEntities     Code = "no_entities"
	CommonEntities Code = "common_entities"
)

const paramEntities = "entities"

// laneInfos documents the codes of this file.
var laneInfos = []WarningInfo{
	{
		Code:    NoSparse,
		When:    "no node has a sparse vector of the model of a sparse query vector",
		Message: "no node has a sparse vector of the model {model}",
		Remedy: "commit sparse embeddings of it, give it with --vector if its vectors are dense, or " +
			"name another model with --sparse; there are: {models}",
	},
	{
		Code:    NoEntities,
		When:    "the entity lane has nothing to look for",
		Message: "the text has no name, quoted phrase, identifier or number to look for",
		Remedy:  "write names with capitals, quote a phrase, or leave --weight entity out",
	},
	{
		Code:    CommonEntities,
		When:    "entities of the text are in too many nodes for all of these to be read",
		Message: "names, phrases or numbers that too many nodes may have do not count: %d",
		Remedy:  "ask for rarer ones, or narrow the query with --type, --where or --created-from",
		Param:   paramEntities,
	},
}

// laneWarnings returns the warnings of this file, in the order of its table.
func (r *run) laneWarnings() []Warning {
	out := r.noSparse
	switch l := &r.entities; {
	case l.none:
		out = append(out, Warning{Code: NoEntities})
	case l.common > 0:
		out = append(out, warning(CommonEntities, paramEntities, l.common))
	}
	return out
}
