package ops

import (
	"hash/fnv"
	"io"
	"reflect"
	"strings"
)

// verbs are all verbs, by the words of their commands.
var verbs = []*Spec{
	&Add.Spec,
	&Blame.Spec,
	&BranchVerb.Spec,
	&TellBrief.Spec,
	&Capture.Spec,
	&CatFile.Spec,
	&Check.Spec,
	&CherryPick.Spec,
	&CommitVerb.Spec,
	&Communities.Spec,
	&Consolidate.Spec,
	&Contradict.Spec,
	&Cues.Spec,
	&Diff.Spec,
	&DigestVerb.Spec,
	&DigestWrite.Spec,
	&Distill.Spec,
	&Doctor.Spec,
	&Embed.Spec,
	&Expire.Spec,
	&Explore.Spec,
	&Export.Spec,
	&Forget.Spec,
	&Fsck.Spec,
	&GC.Spec,
	&Get.Spec,
	&HalfLife.Spec,
	&Import.Spec,
	&IndexRebuild.Spec,
	&IndexStatus.Spec,
	&Ingest.Spec,
	&Last.Spec,
	&Link.Spec,
	&Log.Spec,
	&Ls.Spec,
	&MapVerb.Spec,
	&Merge.Spec,
	&Names.Spec,
	&NeighborsOf.Spec,
	&OpDiff.Spec,
	&OpLog.Spec,
	&OpRestore.Spec,
	&OpShow.Spec,
	&PackRedact.Spec,
	&PackRedactions.Spec,
	&PackRefs.Spec,
	&PackSend.Spec,
	&PackTake.Spec,
	&Path.Spec,
	&Pin.Spec,
	&ProfileDefault.Spec,
	&ProfileList.Spec,
	&ProfileRestore.Spec,
	&ProfileRemove.Spec,
	&ProfileSet.Spec,
	&ProfileShow.Spec,
	&ProfileUnset.Spec,
	&Purge.Spec,
	&Recall.Spec,
	&Redo.Spec,
	&RelatedTo.Spec,
	&Remember.Spec,
	&RemoteRedactions.Spec,
	&Replay.Spec,
	&Reset.Spec,
	&ResolveVerb.Spec,
	&Restore.Spec,
	&Retire.Spec,
	&Retrieve.Spec,
	&Revert.Spec,
	&Review.Spec,
	&Rm.Spec,
	&SchemaVerb.Spec,
	&SessionAdvance.Spec,
	&SessionEnd.Spec,
	&SessionList.Spec,
	&SessionLog.Spec,
	&SessionRemove.Spec,
	&SessionStart.Spec,
	&Set.Spec,
	&Show.Spec,
	&Sources.Spec,
	&SourcesDiffVerb.Spec,
	&SourcesRefresh.Spec,
	&Stale.Spec,
	&StatsVerb.Spec,
	&StatusVerb.Spec,
	&Suggest.Spec,
	&Supersede.Spec,
	&Switch.Spec,
	&TagVerb.Spec,
	&Undo.Spec,
	&Unlink.Spec,
	&Unpin.Spec,
	&Verify.Spec,
	&Version.Spec,
	&Watch.Spec,
}

// Table returns every verb, by its command. The list must not be changed.
func Table() []*Spec { return verbs }

// Named returns the verb of a name, nil for none.
func Named(name string) *Spec {
	for _, s := range verbs {
		if s.Name() == name {
			return s
		}
	}
	return nil
}

// Governed returns the names of the verbs that policies speak of.
func Governed() (names []string) {
	for _, s := range verbs {
		if s.Right == OwnRight {
			names = append(names, s.Name())
		}
	}
	return names
}

// Recording reports whether operations of a name need no right: those of verbs that record what was read, and those
// of commands that make a repository, which has no policy yet.
func Recording(name string) bool {
	s := Named(name)
	return name == "init" || s != nil && s.Right == NoRight
}

// TableHash is the same for two builds whose verbs have the same names, fields and answers.
func TableHash() []byte {
	h := fnv.New64a()
	seen := map[reflect.Type]bool{}
	for _, s := range verbs {
		hashText(h, s.Command)
		hashType(h, reflect.TypeOf(s.Request()), "op", seen)
		for _, t := range s.AnswerTypes() {
			hashType(h, t, "json", seen)
		}
	}
	return h.Sum(nil)
}

func hashText(h io.Writer, text string) { _, _ = io.WriteString(h, text+"\n") } // a hash takes all

// hashType hashes what a type is called and has, by the names that a tag gives its fields.
func hashType(h io.Writer, t reflect.Type, tag string, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	if t.Kind() == reflect.Func && t.NumIn() == 1 { // an Each
		t = t.In(0).In(0)
	}
	if hashText(h, t.Name()); t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get(tag), ",")
		if hashText(h, f.Name+" "+name); f.IsExported() {
			hashType(h, f.Type, tag, seen)
		}
	}
}
