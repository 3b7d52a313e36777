"""The verbs of mnem and their answers. Times are RFC 3339 texts; scores are integers."""

# Written by generate.py from the OpenAPI document of mnem. Changes are made there.
# ruff: noqa
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload


class Answer:
    """What all answers share. Each is a dataclass; these are written once, which makes the import faster."""

    def __repr__(self) -> str:
        members = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({members})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


def has(d: Any, names: tuple[str, ...]) -> bool:
    return isinstance(d, dict) and all(name in d for name in names)


@dataclass(kw_only=True, eq=False, repr=False)
class Counts(Answer):
    added: int
    changed: int
    removed: int


def read_Counts(d: Any) -> Counts:
    return Counts(
        added=d['added'],
        changed=d['changed'],
        removed=d['removed'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SecretWarning(Answer):
    code: str
    field: str
    file: str | None
    item: str | None
    line: int | None
    message: str
    remedy: str
    rule: str


def read_SecretWarning(d: Any) -> SecretWarning:
    return SecretWarning(
        code=d['code'],
        field=d['field'],
        file=d['file'],
        item=d['item'],
        line=d['line'],
        message=d['message'],
        remedy=d['remedy'],
        rule=d['rule'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class AddAnswer(Answer):
    duplicates: int
    edges: Counts
    nodes: Counts
    stage: str
    unchanged: int
    warnings: list[SecretWarning] = field(default_factory=list)


def read_AddAnswer(d: Any) -> AddAnswer:
    return AddAnswer(
        duplicates=d['duplicates'],
        edges=read_Counts(d['edges']),
        nodes=read_Counts(d['nodes']),
        stage=d['stage'],
        unchanged=d['unchanged'],
        warnings=[read_SecretWarning(x) for x in d.get('warnings') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class BlameField(Answer):
    agent: str | None
    author: str
    commit: str
    field: str
    time: str
    git: str | None = None


def read_BlameField(d: Any) -> BlameField:
    return BlameField(
        agent=d['agent'],
        author=d['author'],
        commit=d['commit'],
        field=d['field'],
        time=d['time'],
        git=d.get('git'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class BlameAnswer(Answer):
    fields: list[BlameField]
    id: str
    key: str | None


def read_BlameAnswer(d: Any) -> BlameAnswer:
    return BlameAnswer(
        fields=[read_BlameField(x) for x in d['fields'] or ()],
        id=d['id'],
        key=d['key'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class BranchRemote(Answer):
    ahead: int
    behind: int
    commit: str
    remote: str


def read_BranchRemote(d: Any) -> BranchRemote:
    return BranchRemote(
        ahead=d['ahead'],
        behind=d['behind'],
        commit=d['commit'],
        remote=d['remote'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class BranchAnswer(Answer):
    commit: str | None
    current: bool
    name: str
    remotes: list[BranchRemote] = field(default_factory=list)


def read_BranchAnswer(d: Any) -> BranchAnswer:
    return BranchAnswer(
        commit=d['commit'],
        current=d['current'],
        name=d['name'],
        remotes=[read_BranchRemote(x) for x in d.get('remotes') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class BranchRemoved(Answer):
    commit: str
    removed: str


def read_BranchRemoved(d: Any) -> BranchRemoved:
    return BranchRemoved(
        commit=d['commit'],
        removed=d['removed'],
    )


def read_BranchAnswer_forms(d: Any) -> BranchAnswer | BranchRemoved:
    if has(d, ('commit', 'current', 'name')):
        return read_BranchAnswer(d)
    if has(d, ('commit', 'removed')):
        return read_BranchRemoved(d)
    return read_BranchAnswer(d)


@dataclass(kw_only=True, eq=False, repr=False)
class Field(Answer):
    base: Any
    field: str
    ours: Any
    theirs: Any


def read_Field(d: Any) -> Field:
    return Field(
        base=d['base'],
        field=d['field'],
        ours=d['ours'],
        theirs=d['theirs'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Conflict(Answer):
    base: str | None
    fields: list[Field]
    item: str
    kind: str
    label: str
    ours: str | None
    resolution: str | None
    theirs: str | None


def read_Conflict(d: Any) -> Conflict:
    return Conflict(
        base=d['base'],
        fields=[read_Field(x) for x in d['fields'] or ()],
        item=d['item'],
        kind=d['kind'],
        label=d['label'],
        ours=d['ours'],
        resolution=d['resolution'],
        theirs=d['theirs'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class CherryPickAnswer(Answer):
    branch: str
    commit: str | None
    conflicts: list[Conflict]
    dry_run: bool
    edges: Counts
    fast_forward: bool
    graph: str | None
    no_change: bool
    nodes: Counts
    parents: list[str]
    vectors_dropped: int
    warnings: list[SecretWarning] = field(default_factory=list)


def read_CherryPickAnswer(d: Any) -> CherryPickAnswer:
    return CherryPickAnswer(
        branch=d['branch'],
        commit=d['commit'],
        conflicts=[read_Conflict(x) for x in d['conflicts'] or ()],
        dry_run=d['dry_run'],
        edges=read_Counts(d['edges']),
        fast_forward=d['fast_forward'],
        graph=d['graph'],
        no_change=d['no_change'],
        nodes=read_Counts(d['nodes']),
        parents=d['parents'] or [],
        vectors_dropped=d['vectors_dropped'],
        warnings=[read_SecretWarning(x) for x in d.get('warnings') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ChangeField(Answer):
    field: str
    new: Any
    old: Any


def read_ChangeField(d: Any) -> ChangeField:
    return ChangeField(
        field=d['field'],
        new=d['new'],
        old=d['old'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Change(Answer):
    change: str
    fields: list[ChangeField]
    id: str
    item: str
    type: str
    dst: str | None = None
    key: str | None = None
    src: str | None = None


def read_Change(d: Any) -> Change:
    return Change(
        change=d['change'],
        fields=[read_ChangeField(x) for x in d['fields'] or ()],
        id=d['id'],
        item=d['item'],
        type=d['type'],
        dst=d.get('dst'),
        key=d.get('key'),
        src=d.get('src'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class CommitAnswer(Answer):
    branch: str
    commit: str | None
    dry_run: bool
    duplicates: int
    edges: Counts
    graph: str | None
    no_change: bool
    nodes: Counts
    parents: list[str]
    unchanged: int
    changes: list[Change] = field(default_factory=list)
    rebased: bool | None = None
    unembedded: int | None = None
    warnings: list[SecretWarning] = field(default_factory=list)


def read_CommitAnswer(d: Any) -> CommitAnswer:
    return CommitAnswer(
        branch=d['branch'],
        commit=d['commit'],
        dry_run=d['dry_run'],
        duplicates=d['duplicates'],
        edges=read_Counts(d['edges']),
        graph=d['graph'],
        no_change=d['no_change'],
        nodes=read_Counts(d['nodes']),
        parents=d['parents'] or [],
        unchanged=d['unchanged'],
        changes=[read_Change(x) for x in d.get('changes') or ()],
        rebased=d.get('rebased'),
        unembedded=d.get('unembedded'),
        warnings=[read_SecretWarning(x) for x in d.get('warnings') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ConfigHalfLifeAnswer(Answer):
    commit: str | None
    dry_run: bool
    half_lives: dict[str, Any]
    no_change: bool
    other: int
    own: list[str]


def read_ConfigHalfLifeAnswer(d: Any) -> ConfigHalfLifeAnswer:
    return ConfigHalfLifeAnswer(
        commit=d['commit'],
        dry_run=d['dry_run'],
        half_lives=d['half_lives'],
        no_change=d['no_change'],
        other=d['other'],
        own=d['own'] or [],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ConfigProfileAnswer(Answer):
    builtin: bool
    default: bool
    name: str
    params: dict[str, Any]
    types: list[str]


def read_ConfigProfileAnswer(d: Any) -> ConfigProfileAnswer:
    return ConfigProfileAnswer(
        builtin=d['builtin'],
        default=d['default'],
        name=d['name'],
        params=d['params'],
        types=d['types'] or [],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Changed(Answer):
    fields: list[ChangeField]
    kind: str
    name: str


def read_Changed(d: Any) -> Changed:
    return Changed(
        fields=[read_ChangeField(x) for x in d['fields'] or ()],
        kind=d['kind'],
        name=d['name'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Profile(Answer):
    changed: list[Changed]
    default: ChangeField | None
    fields: list[ChangeField] = field(default_factory=list)


def read_Profile(d: Any) -> Profile:
    return Profile(
        changed=[read_Changed(x) for x in d['changed'] or ()],
        default=read_ChangeField(v) if (v := d['default']) is not None else None,
        fields=[read_ChangeField(x) for x in d.get('fields') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ProfilesChange(Answer):
    branch: str
    commit: str | None
    no_change: bool
    parents: list[str]
    profiles: Profile | None = None


def read_ProfilesChange(d: Any) -> ProfilesChange:
    return ProfilesChange(
        branch=d['branch'],
        commit=d['commit'],
        no_change=d['no_change'],
        parents=d['parents'] or [],
        profiles=read_Profile(v) if (v := d.get('profiles')) is not None else None,
    )


def read_ConfigProfileAnswer_forms(d: Any) -> ConfigProfileAnswer | ProfilesChange:
    if has(d, ('builtin', 'default', 'name', 'params', 'types')):
        return read_ConfigProfileAnswer(d)
    if has(d, ('branch', 'commit', 'no_change', 'parents')):
        return read_ProfilesChange(d)
    return read_ConfigProfileAnswer(d)


@dataclass(kw_only=True, eq=False, repr=False)
class ConsolidateProposalDiffer(Answer):
    a: str
    b: str
    kind: str


def read_ConsolidateProposalDiffer(d: Any) -> ConsolidateProposalDiffer:
    return ConsolidateProposalDiffer(
        a=d['a'],
        b=d['b'],
        kind=d['kind'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Importance(Answer):
    age_seconds: int
    base: int
    decay: int
    half_life_days: int
    importance: int
    linked: int
    links: int
    use: int
    uses: int
    value: int


def read_Importance(d: Any) -> Importance:
    return Importance(
        age_seconds=d['age_seconds'],
        base=d['base'],
        decay=d['decay'],
        half_life_days=d['half_life_days'],
        importance=d['importance'],
        linked=d['linked'],
        links=d['links'],
        use=d['use'],
        uses=d['uses'],
        value=d['value'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ConsolidateProposal(Answer):
    id: str
    kind: str
    names: list[str]
    nodes: list[str]
    why: str
    differ: str | None = None
    differs: list[ConsolidateProposalDiffer] = field(default_factory=list)
    importance: Importance | None = None
    settle: str | None = None
    similarity: int | None = None
    spellings: list[str] = field(default_factory=list)
    tag: str | None = None


def read_ConsolidateProposal(d: Any) -> ConsolidateProposal:
    return ConsolidateProposal(
        id=d['id'],
        kind=d['kind'],
        names=d['names'] or [],
        nodes=d['nodes'] or [],
        why=d['why'],
        differ=d.get('differ'),
        differs=[read_ConsolidateProposalDiffer(x) for x in d.get('differs') or ()],
        importance=read_Importance(v) if (v := d.get('importance')) is not None else None,
        settle=d.get('settle'),
        similarity=d.get('similarity'),
        spellings=d.get('spellings') or [],
        tag=d.get('tag'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ConsolidateAnswer(Answer):
    commit: str | None
    declined: int
    memories: int
    more: int
    now: str
    proposals: list[ConsolidateProposal]


def read_ConsolidateAnswer(d: Any) -> ConsolidateAnswer:
    return ConsolidateAnswer(
        commit=d['commit'],
        declined=d['declined'],
        memories=d['memories'],
        more=d['more'],
        now=d['now'],
        proposals=[read_ConsolidateProposal(x) for x in d['proposals'] or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ConsolidateDone(Answer):
    branch: str
    commit: str | None
    dry_run: bool
    graph: str | None
    marked: list[str]
    no_change: bool
    picked: list[ConsolidateProposal]
    retagged: list[str]
    unmarked: list[str]


def read_ConsolidateDone(d: Any) -> ConsolidateDone:
    return ConsolidateDone(
        branch=d['branch'],
        commit=d['commit'],
        dry_run=d['dry_run'],
        graph=d['graph'],
        marked=d['marked'] or [],
        no_change=d['no_change'],
        picked=[read_ConsolidateProposal(x) for x in d['picked'] or ()],
        retagged=d['retagged'] or [],
        unmarked=d['unmarked'] or [],
    )


def read_ConsolidateAnswer_forms(d: Any) -> ConsolidateAnswer | ConsolidateDone:
    if has(d, ('branch', 'commit', 'dry_run', 'graph', 'marked', 'no_change', 'picked', 'retagged', 'unmarked')):
        return read_ConsolidateDone(d)
    if has(d, ('commit', 'declined', 'memories', 'more', 'now', 'proposals')):
        return read_ConsolidateAnswer(d)
    return read_ConsolidateAnswer(d)


@dataclass(kw_only=True, eq=False, repr=False)
class Count(Answer):
    edges: Counts
    nodes: Counts


def read_Count(d: Any) -> Count:
    return Count(
        edges=read_Counts(d['edges']),
        nodes=read_Counts(d['nodes']),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Edge(Answer):
    change: str
    dst: str
    dst_key: str | None
    fields: list[ChangeField]
    id: str
    key: str | None
    src: str
    src_key: str | None
    type: str


def read_Edge(d: Any) -> Edge:
    return Edge(
        change=d['change'],
        dst=d['dst'],
        dst_key=d['dst_key'],
        fields=[read_ChangeField(x) for x in d['fields'] or ()],
        id=d['id'],
        key=d['key'],
        src=d['src'],
        src_key=d['src_key'],
        type=d['type'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Node(Answer):
    change: str
    fields: list[ChangeField]
    id: str
    key: str | None
    type: str


def read_Node(d: Any) -> Node:
    return Node(
        change=d['change'],
        fields=[read_ChangeField(x) for x in d['fields'] or ()],
        id=d['id'],
        key=d['key'],
        type=d['type'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class DiffAnswer(Answer):
    counts: Count
    edges: list[Edge]
    from_: str | None
    nodes: list[Node]
    to: str | None
    profiles: Profile | None = None
    stage: str | None = None
    title: str | None = None


def read_DiffAnswer(d: Any) -> DiffAnswer:
    return DiffAnswer(
        counts=read_Count(d['counts']),
        edges=[read_Edge(x) for x in d['edges'] or ()],
        from_=d['from'],
        nodes=[read_Node(x) for x in d['nodes'] or ()],
        to=d['to'],
        profiles=read_Profile(v) if (v := d.get('profiles')) is not None else None,
        stage=d.get('stage'),
        title=d.get('title'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class EdgeType(Answer):
    added: int
    changed: int
    removed: int
    type: str


def read_EdgeType(d: Any) -> EdgeType:
    return EdgeType(
        added=d['added'],
        changed=d['changed'],
        removed=d['removed'],
        type=d['type'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class DiffStat(Answer):
    counts: Count
    edge_types: list[EdgeType]
    from_: str | None
    node_types: list[EdgeType]
    to: str | None
    stage: str | None = None


def read_DiffStat(d: Any) -> DiffStat:
    return DiffStat(
        counts=read_Count(d['counts']),
        edge_types=[read_EdgeType(x) for x in d['edge_types'] or ()],
        from_=d['from'],
        node_types=[read_EdgeType(x) for x in d['node_types'] or ()],
        to=d['to'],
        stage=d.get('stage'),
    )


def read_DiffAnswer_forms(d: Any) -> DiffAnswer | DiffStat:
    if has(d, ('counts', 'edges', 'from', 'nodes', 'to')):
        return read_DiffAnswer(d)
    if has(d, ('counts', 'edge_types', 'from', 'node_types', 'to')):
        return read_DiffStat(d)
    return read_DiffAnswer(d)


@dataclass(kw_only=True, eq=False, repr=False)
class EmbedStatus(Answer):
    by_itself: bool
    missing: int
    nodes: int
    resumes: bool
    running: bool
    vectors: int


def read_EmbedStatus(d: Any) -> EmbedStatus:
    return EmbedStatus(
        by_itself=d['by_itself'],
        missing=d['missing'],
        nodes=d['nodes'],
        resumes=d['resumes'],
        running=d['running'],
        vectors=d['vectors'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class EmbedAnswer(Answer):
    branch: str
    commit: str
    commits: int
    dim: int | None
    dry_run: bool
    embedded: int
    model: str
    remaining: int
    skipped: int
    stale: int
    too_long: int
    unchanged: int
    status: EmbedStatus | None = None


def read_EmbedAnswer(d: Any) -> EmbedAnswer:
    return EmbedAnswer(
        branch=d['branch'],
        commit=d['commit'],
        commits=d['commits'],
        dim=d['dim'],
        dry_run=d['dry_run'],
        embedded=d['embedded'],
        model=d['model'],
        remaining=d['remaining'],
        skipped=d['skipped'],
        stale=d['stale'],
        too_long=d['too_long'],
        unchanged=d['unchanged'],
        status=read_EmbedStatus(v) if (v := d.get('status')) is not None else None,
    )


@dataclass(kw_only=True, eq=False, repr=False)
class EmbedCuesNode(Answer):
    cues: list[str]
    id: str
    key: str | None
    summary: str | None
    type: str


def read_EmbedCuesNode(d: Any) -> EmbedCuesNode:
    return EmbedCuesNode(
        cues=d['cues'] or [],
        id=d['id'],
        key=d['key'],
        summary=d['summary'],
        type=d['type'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class EmbedCuesAnswer(Answer):
    commit: str | None
    next: str | None
    nodes: list[EmbedCuesNode]


def read_EmbedCuesAnswer(d: Any) -> EmbedCuesAnswer:
    return EmbedCuesAnswer(
        commit=d['commit'],
        next=d['next'],
        nodes=[read_EmbedCuesNode(x) for x in d['nodes'] or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class CuesWritten(Answer):
    branch: str
    commit: str
    commits: int
    cues: int
    memories: int
    remaining: int
    skipped: int


def read_CuesWritten(d: Any) -> CuesWritten:
    return CuesWritten(
        branch=d['branch'],
        commit=d['commit'],
        commits=d['commits'],
        cues=d['cues'],
        memories=d['memories'],
        remaining=d['remaining'],
        skipped=d['skipped'],
    )


def read_EmbedCuesAnswer_forms(d: Any) -> EmbedCuesAnswer | CuesWritten:
    if has(d, ('branch', 'commit', 'commits', 'cues', 'memories', 'remaining', 'skipped')):
        return read_CuesWritten(d)
    if has(d, ('commit', 'next', 'nodes')):
        return read_EmbedCuesAnswer(d)
    return read_EmbedCuesAnswer(d)


@dataclass(kw_only=True, eq=False, repr=False)
class ExploreNode(Answer):
    id: str
    key: str | None
    summary: str | None
    type: str


def read_ExploreNode(d: Any) -> ExploreNode:
    return ExploreNode(
        id=d['id'],
        key=d['key'],
        summary=d['summary'],
        type=d['type'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ExploreNodeDetailReasonEdge(Answer):
    edge: str
    forward: bool
    from_: str
    to: str
    type: str


def read_ExploreNodeDetailReasonEdge(d: Any) -> ExploreNodeDetailReasonEdge:
    return ExploreNodeDetailReasonEdge(
        edge=d['edge'],
        forward=d['forward'],
        from_=d['from'],
        to=d['to'],
        type=d['type'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ExploreNodeDetailReason(Answer):
    kind: str
    score: int
    edge: ExploreNodeDetailReasonEdge | None = None
    names: list[str] = field(default_factory=list)


def read_ExploreNodeDetailReason(d: Any) -> ExploreNodeDetailReason:
    return ExploreNodeDetailReason(
        kind=d['kind'],
        score=d['score'],
        edge=read_ExploreNodeDetailReasonEdge(v) if (v := d.get('edge')) is not None else None,
        names=d.get('names') or [],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class In(Answer):
    edge: str
    id: str
    key: str | None
    node_type: str | None
    summary: str | None
    type: str
    weight: float


def read_In(d: Any) -> In:
    return In(
        edge=d['edge'],
        id=d['id'],
        key=d['key'],
        node_type=d['node_type'],
        summary=d['summary'],
        type=d['type'],
        weight=d['weight'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ExploreNodeDetailEdge(Answer):
    in_: list[In]
    more_in: int
    more_out: int
    out: list[In]


def read_ExploreNodeDetailEdge(d: Any) -> ExploreNodeDetailEdge:
    return ExploreNodeDetailEdge(
        in_=[read_In(x) for x in d['in'] or ()],
        more_in=d['more_in'],
        more_out=d['more_out'],
        out=[read_In(x) for x in d['out'] or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ExploreNodeDetail(Answer):
    hops: int
    id: str
    key: str | None
    reasons: list[ExploreNodeDetailReason]
    score: int
    summary: str | None
    type: str
    why: str | None
    edges: ExploreNodeDetailEdge | None = None


def read_ExploreNodeDetail(d: Any) -> ExploreNodeDetail:
    return ExploreNodeDetail(
        hops=d['hops'],
        id=d['id'],
        key=d['key'],
        reasons=[read_ExploreNodeDetailReason(x) for x in d['reasons'] or ()],
        score=d['score'],
        summary=d['summary'],
        type=d['type'],
        why=d['why'],
        edges=read_ExploreNodeDetailEdge(v) if (v := d.get('edges')) is not None else None,
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ExploreCommunityMember(Answer):
    id: str
    key: str | None
    node_type: str | None
    summary: str | None
    weight: float


def read_ExploreCommunityMember(d: Any) -> ExploreCommunityMember:
    return ExploreCommunityMember(
        id=d['id'],
        key=d['key'],
        node_type=d['node_type'],
        summary=d['summary'],
        weight=d['weight'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ExploreCommunity(Answer):
    members: list[ExploreCommunityMember]
    number: int
    size: int
    title: str


def read_ExploreCommunity(d: Any) -> ExploreCommunity:
    return ExploreCommunity(
        members=[read_ExploreCommunityMember(x) for x in d['members'] or ()],
        number=d['number'],
        size=d['size'],
        title=d['title'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ExploreTag(Answer):
    from_: list[str]
    in_text: bool
    score: int
    tag: str


def read_ExploreTag(d: Any) -> ExploreTag:
    return ExploreTag(
        from_=d['from'] or [],
        in_text=d['in_text'],
        score=d['score'],
        tag=d['tag'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ExploreAnswer(Answer):
    commit: str | None
    cut: int
    more: int
    node: ExploreNode | None
    nodes: list[ExploreNodeDetail]
    communities: list[ExploreCommunity] = field(default_factory=list)
    tags: list[ExploreTag] = field(default_factory=list)


def read_ExploreAnswer(d: Any) -> ExploreAnswer:
    return ExploreAnswer(
        commit=d['commit'],
        cut=d['cut'],
        more=d['more'],
        node=read_ExploreNode(v) if (v := d['node']) is not None else None,
        nodes=[read_ExploreNodeDetail(x) for x in d['nodes'] or ()],
        communities=[read_ExploreCommunity(x) for x in d.get('communities') or ()],
        tags=[read_ExploreTag(x) for x in d.get('tags') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ForgetAnswer(Answer):
    already: list[str]
    branch: str
    commit: str | None
    dry_run: bool
    graph: str | None
    marked: list[str]
    no_change: bool
    state: str | None
    unmarked: list[str]
    warnings: list[SecretWarning] = field(default_factory=list)


def read_ForgetAnswer(d: Any) -> ForgetAnswer:
    return ForgetAnswer(
        already=d['already'] or [],
        branch=d['branch'],
        commit=d['commit'],
        dry_run=d['dry_run'],
        graph=d['graph'],
        marked=d['marked'] or [],
        no_change=d['no_change'],
        state=d['state'],
        unmarked=d['unmarked'] or [],
        warnings=[read_SecretWarning(x) for x in d.get('warnings') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class FsckError(Answer):
    cid: str | None
    kind: str
    message: str


def read_FsckError(d: Any) -> FsckError:
    return FsckError(
        cid=d['cid'],
        kind=d['kind'],
        message=d['message'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class FsckAnswer(Answer):
    blocks: int
    errors: list[FsckError]
    ok: bool
    repaired: list[str] = field(default_factory=list)


def read_FsckAnswer(d: Any) -> FsckAnswer:
    return FsckAnswer(
        blocks=d['blocks'],
        errors=[read_FsckError(x) for x in d['errors'] or ()],
        ok=d['ok'],
        repaired=d.get('repaired') or [],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class GcAnswer(Answer):
    blocks: int
    bytes: int
    dry_run: bool
    horizon: int
    kept: int
    must_free: int | None = None


def read_GcAnswer(d: Any) -> GcAnswer:
    return GcAnswer(
        blocks=d['blocks'],
        bytes=d['bytes'],
        dry_run=d['dry_run'],
        horizon=d['horizon'],
        kept=d['kept'],
        must_free=d.get('must_free'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class KeyVerifyAnswer(Answer):
    commit: str
    key: str | None
    name: str | None
    reason: str | None
    signature: str
    trust: str | None


def read_KeyVerifyAnswer(d: Any) -> KeyVerifyAnswer:
    return KeyVerifyAnswer(
        commit=d['commit'],
        key=d['key'],
        name=d['name'],
        reason=d['reason'],
        signature=d['signature'],
        trust=d['trust'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Signature(Answer):
    key: str | None
    name: str | None
    reason: str | None
    signature: str
    trust: str | None


def read_Signature(d: Any) -> Signature:
    return Signature(
        key=d['key'],
        name=d['name'],
        reason=d['reason'],
        signature=d['signature'],
        trust=d['trust'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Stat(Answer):
    edge_types: list[EdgeType]
    node_types: list[EdgeType]


def read_Stat(d: Any) -> Stat:
    return Stat(
        edge_types=[read_EdgeType(x) for x in d['edge_types'] or ()],
        node_types=[read_EdgeType(x) for x in d['node_types'] or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class LogAnswer(Answer):
    agent: str | None
    author: str
    commit: str
    edges: Counts
    graph: str
    message: str
    nodes: Counts
    parents: list[str]
    task: str | None
    time: str
    git: str | None = None
    profiles: list[str] = field(default_factory=list)
    signature: Signature | None = None
    stat: Stat | None = None
    title: str | None = None


def read_LogAnswer(d: Any) -> LogAnswer:
    return LogAnswer(
        agent=d['agent'],
        author=d['author'],
        commit=d['commit'],
        edges=read_Counts(d['edges']),
        graph=d['graph'],
        message=d['message'],
        nodes=read_Counts(d['nodes']),
        parents=d['parents'] or [],
        task=d['task'],
        time=d['time'],
        git=d.get('git'),
        profiles=d.get('profiles') or [],
        signature=read_Signature(v) if (v := d.get('signature')) is not None else None,
        stat=read_Stat(v) if (v := d.get('stat')) is not None else None,
        title=d.get('title'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Mark(Answer):
    actor: str
    by: str | None
    reason: str | None
    state: str
    time: str


def read_Mark(d: Any) -> Mark:
    return Mark(
        actor=d['actor'],
        by=d['by'],
        reason=d['reason'],
        state=d['state'],
        time=d['time'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class LsNode(Answer):
    cid: str
    context: str | None
    created: str
    id: str
    key: str | None
    mark: Mark | None
    props: dict[str, Any]
    sources: list[str]
    summary: str | None
    type: str
    updated: str | None
    valid_from: str | None
    valid_to: str | None
    cues: list[str] = field(default_factory=list)


def read_LsNode(d: Any) -> LsNode:
    return LsNode(
        cid=d['cid'],
        context=d['context'],
        created=d['created'],
        id=d['id'],
        key=d['key'],
        mark=read_Mark(v) if (v := d['mark']) is not None else None,
        props=d['props'],
        sources=d['sources'] or [],
        summary=d['summary'],
        type=d['type'],
        updated=d['updated'],
        valid_from=d['validFrom'],
        valid_to=d['validTo'],
        cues=d.get('cues') or [],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class LsAnswer(Answer):
    commit: str | None
    next: str | None
    nodes: list[LsNode]
    others: bool


def read_LsAnswer(d: Any) -> LsAnswer:
    return LsAnswer(
        commit=d['commit'],
        next=d['next'],
        nodes=[read_LsNode(x) for x in d['nodes'] or ()],
        others=d['others'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class LsEdgesEdge(Answer):
    cid: str
    created: str
    dst: str
    dst_key: str | None
    id: str
    key: str | None
    mark: Mark | None
    props: dict[str, Any]
    sources: list[str]
    src: str
    src_key: str | None
    type: str
    valid_from: str | None
    valid_to: str | None
    weight: float


def read_LsEdgesEdge(d: Any) -> LsEdgesEdge:
    return LsEdgesEdge(
        cid=d['cid'],
        created=d['created'],
        dst=d['dst'],
        dst_key=d['dst_key'],
        id=d['id'],
        key=d['key'],
        mark=read_Mark(v) if (v := d['mark']) is not None else None,
        props=d['props'],
        sources=d['sources'] or [],
        src=d['src'],
        src_key=d['src_key'],
        type=d['type'],
        valid_from=d['validFrom'],
        valid_to=d['validTo'],
        weight=d['weight'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class LsEdges(Answer):
    commit: str | None
    edges: list[LsEdgesEdge]
    next: str | None


def read_LsEdges(d: Any) -> LsEdges:
    return LsEdges(
        commit=d['commit'],
        edges=[read_LsEdgesEdge(x) for x in d['edges'] or ()],
        next=d['next'],
    )


def read_LsAnswer_forms(d: Any) -> LsAnswer | LsEdges:
    if has(d, ('commit', 'next', 'nodes', 'others')):
        return read_LsAnswer(d)
    if has(d, ('commit', 'edges', 'next')):
        return read_LsEdges(d)
    return read_LsAnswer(d)


@dataclass(kw_only=True, eq=False, repr=False)
class MapEntryChanged(Answer):
    id: str
    state: str
    title: str | None


def read_MapEntryChanged(d: Any) -> MapEntryChanged:
    return MapEntryChanged(
        id=d['id'],
        state=d['state'],
        title=d['title'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class MapEntry(Answer):
    changed: list[MapEntryChanged]
    created: str | None
    depth: int
    facts: int
    id: str | None
    kind: str
    name: str | None
    scopes: int
    source: str
    title: str | None
    tokens: int
    type: str


def read_MapEntry(d: Any) -> MapEntry:
    return MapEntry(
        changed=[read_MapEntryChanged(x) for x in d['changed'] or ()],
        created=d['created'],
        depth=d['depth'],
        facts=d['facts'],
        id=d['id'],
        kind=d['kind'],
        name=d['name'],
        scopes=d['scopes'],
        source=d['source'],
        title=d['title'],
        tokens=d['tokens'],
        type=d['type'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class MapSince(Answer):
    added: int
    changed: int
    commit: str | None
    more: bool
    read: int
    removed: int


def read_MapSince(d: Any) -> MapSince:
    return MapSince(
        added=d['added'],
        changed=d['changed'],
        commit=d['commit'],
        more=d['more'],
        read=d['read'],
        removed=d['removed'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class MapDigestText(Answer):
    fact: str
    text: str | None


def read_MapDigestText(d: Any) -> MapDigestText:
    return MapDigestText(
        fact=d['fact'],
        text=d['text'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class MapDigestWritten(Answer):
    model: str
    text: str | None


def read_MapDigestWritten(d: Any) -> MapDigestWritten:
    return MapDigestWritten(
        model=d['model'],
        text=d['text'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class MapDigest(Answer):
    above: list[str | None]
    expired: list[str]
    facts: int
    id: str | None
    kind: str
    level: int
    name: str | None
    refused: int
    sem: str
    source: str
    text: list[MapDigestText]
    title: str | None
    tokens: int
    written: MapDigestWritten | None


def read_MapDigest(d: Any) -> MapDigest:
    return MapDigest(
        above=d['above'] or [],
        expired=d['expired'] or [],
        facts=d['facts'],
        id=d['id'],
        kind=d['kind'],
        level=d['level'],
        name=d['name'],
        refused=d['refused'],
        sem=d['sem'],
        source=d['source'],
        text=[read_MapDigestText(x) for x in d['text'] or ()],
        title=d['title'],
        tokens=d['tokens'],
        written=read_MapDigestWritten(v) if (v := d['written']) is not None else None,
    )


@dataclass(kw_only=True, eq=False, repr=False)
class MapFound(Answer):
    distance: int
    id: str | None
    kind: str
    name: str | None
    sem: str
    title: str | None


def read_MapFound(d: Any) -> MapFound:
    return MapFound(
        distance=d['distance'],
        id=d['id'],
        kind=d['kind'],
        name=d['name'],
        sem=d['sem'],
        title=d['title'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class MapRebuiltWrittenFailed(Answer):
    error: str
    id: str | None


def read_MapRebuiltWrittenFailed(d: Any) -> MapRebuiltWrittenFailed:
    return MapRebuiltWrittenFailed(
        error=d['error'],
        id=d['id'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class MapRebuiltWritten(Answer):
    calls: int
    commit: str | None
    dropped: int
    dry_run: bool
    failed: list[MapRebuiltWrittenFailed]
    left: int
    model: str
    most: int
    tokens: int
    written: int


def read_MapRebuiltWritten(d: Any) -> MapRebuiltWritten:
    return MapRebuiltWritten(
        calls=d['calls'],
        commit=d['commit'],
        dropped=d['dropped'],
        dry_run=d['dry_run'],
        failed=[read_MapRebuiltWrittenFailed(x) for x in d['failed'] or ()],
        left=d['left'],
        model=d['model'],
        most=d['most'],
        tokens=d['tokens'],
        written=d['written'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class MapRebuilt(Answer):
    facts: int
    found: bool
    made: int
    read: int
    root: str | None
    scopes: int
    source: str
    texts: int
    written: MapRebuiltWritten | None = None


def read_MapRebuilt(d: Any) -> MapRebuilt:
    return MapRebuilt(
        facts=d['facts'],
        found=d['found'],
        made=d['made'],
        read=d['read'],
        root=d['root'],
        scopes=d['scopes'],
        source=d['source'],
        texts=d['texts'],
        written=read_MapRebuiltWritten(v) if (v := d.get('written')) is not None else None,
    )


@dataclass(kw_only=True, eq=False, repr=False)
class MapWritten(Answer):
    branch: str
    dropped: int
    dry_run: bool
    id: str | None
    model: str
    name: str | None
    no_change: bool
    source: str
    tokens: int
    warnings: list[SecretWarning] = field(default_factory=list)


def read_MapWritten(d: Any) -> MapWritten:
    return MapWritten(
        branch=d['branch'],
        dropped=d['dropped'],
        dry_run=d['dry_run'],
        id=d['id'],
        model=d['model'],
        name=d['name'],
        no_change=d['no_change'],
        source=d['source'],
        tokens=d['tokens'],
        warnings=[read_SecretWarning(x) for x in d.get('warnings') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class MapAnswer(Answer):
    commit: str | None
    entries: list[MapEntry]
    more: int
    printed: str | None
    since: MapSince | None
    tokens: int
    digest: MapDigest | None = None
    found: list[MapFound] = field(default_factory=list)
    rebuilt: MapRebuilt | None = None
    written: MapWritten | None = None


def read_MapAnswer(d: Any) -> MapAnswer:
    return MapAnswer(
        commit=d['commit'],
        entries=[read_MapEntry(x) for x in d['entries'] or ()],
        more=d['more'],
        printed=d['printed'],
        since=read_MapSince(v) if (v := d['since']) is not None else None,
        tokens=d['tokens'],
        digest=read_MapDigest(v) if (v := d.get('digest')) is not None else None,
        found=[read_MapFound(x) for x in d.get('found') or ()],
        rebuilt=read_MapRebuilt(v) if (v := d.get('rebuilt')) is not None else None,
        written=read_MapWritten(v) if (v := d.get('written')) is not None else None,
    )


@dataclass(kw_only=True, eq=False, repr=False)
class MarkAnswer(Answer):
    already: list[str]
    branch: str
    commit: str | None
    dry_run: bool
    graph: str | None
    marked: list[str]
    no_change: bool
    state: str | None
    unmarked: list[str]
    warnings: list[SecretWarning] = field(default_factory=list)


def read_MarkAnswer(d: Any) -> MarkAnswer:
    return MarkAnswer(
        already=d['already'] or [],
        branch=d['branch'],
        commit=d['commit'],
        dry_run=d['dry_run'],
        graph=d['graph'],
        marked=d['marked'] or [],
        no_change=d['no_change'],
        state=d['state'],
        unmarked=d['unmarked'] or [],
        warnings=[read_SecretWarning(x) for x in d.get('warnings') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class MergeAnswer(Answer):
    branch: str
    commit: str | None
    conflicts: list[Conflict]
    dry_run: bool
    edges: Counts
    fast_forward: bool
    graph: str | None
    no_change: bool
    nodes: Counts
    parents: list[str]
    vectors_dropped: int
    warnings: list[SecretWarning] = field(default_factory=list)


def read_MergeAnswer(d: Any) -> MergeAnswer:
    return MergeAnswer(
        branch=d['branch'],
        commit=d['commit'],
        conflicts=[read_Conflict(x) for x in d['conflicts'] or ()],
        dry_run=d['dry_run'],
        edges=read_Counts(d['edges']),
        fast_forward=d['fast_forward'],
        graph=d['graph'],
        no_change=d['no_change'],
        nodes=read_Counts(d['nodes']),
        parents=d['parents'] or [],
        vectors_dropped=d['vectors_dropped'],
        warnings=[read_SecretWarning(x) for x in d.get('warnings') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Kept(Answer):
    branch: str
    commit: str
    ref: str


def read_Kept(d: Any) -> Kept:
    return Kept(
        branch=d['branch'],
        commit=d['commit'],
        ref=d['ref'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class MergeState(Answer):
    branch: str | None
    conflicts: list[Conflict]
    kept: list[Kept]
    ours: str | None
    theirs: str | None
    vectors_dropped: int
    verb: str | None


def read_MergeState(d: Any) -> MergeState:
    return MergeState(
        branch=d['branch'],
        conflicts=[read_Conflict(x) for x in d['conflicts'] or ()],
        kept=[read_Kept(x) for x in d['kept'] or ()],
        ours=d['ours'],
        theirs=d['theirs'],
        vectors_dropped=d['vectors_dropped'],
        verb=d['verb'],
    )


def read_MergeAnswer_forms(d: Any) -> MergeAnswer | MergeState:
    if has(d, ('branch', 'commit', 'conflicts', 'dry_run', 'edges', 'fast_forward', 'graph', 'no_change', 'nodes', 'parents', 'vectors_dropped')):
        return read_MergeAnswer(d)
    if has(d, ('branch', 'conflicts', 'kept', 'ours', 'theirs', 'vectors_dropped', 'verb')):
        return read_MergeState(d)
    return read_MergeAnswer(d)


@dataclass(kw_only=True, eq=False, repr=False)
class RefMove(Answer):
    from_: str | None
    ref: str
    to: str | None


def read_RefMove(d: Any) -> RefMove:
    return RefMove(
        from_=d['from'],
        ref=d['ref'],
        to=d['to'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class OperationName(Answer):
    op: str
    seq: int


def read_OperationName(d: Any) -> OperationName:
    return OperationName(
        op=d['op'],
        seq=d['seq'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class OpLogAnswer(Answer):
    actor: str
    command: list[str]
    op: str
    redoes: str | None
    refs: list[RefMove]
    seq: int
    time: str
    undoes: str | None
    oldest: bool | None = None
    since: OperationName | None = None
    undone: bool | None = None


def read_OpLogAnswer(d: Any) -> OpLogAnswer:
    return OpLogAnswer(
        actor=d['actor'],
        command=d['command'] or [],
        op=d['op'],
        redoes=d['redoes'],
        refs=[read_RefMove(x) for x in d['refs'] or ()],
        seq=d['seq'],
        time=d['time'],
        undoes=d['undoes'],
        oldest=d.get('oldest'),
        since=read_OperationName(v) if (v := d.get('since')) is not None else None,
        undone=d.get('undone'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Pushed(Answer):
    branch: str
    commits: str
    remote: str


def read_Pushed(d: Any) -> Pushed:
    return Pushed(
        branch=d['branch'],
        commits=d['commits'],
        remote=d['remote'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Skipped(Answer):
    command: list[str]
    op: str
    seq: int


def read_Skipped(d: Any) -> Skipped:
    return Skipped(
        command=d['command'] or [],
        op=d['op'],
        seq=d['seq'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class OpRestoreAnswer(Answer):
    command: list[str]
    did: str
    of: OperationName
    op: str | None
    pushed: list[Pushed]
    refs: list[RefMove]
    skipped: list[Skipped]
    skipped_all: int


def read_OpRestoreAnswer(d: Any) -> OpRestoreAnswer:
    return OpRestoreAnswer(
        command=d['command'] or [],
        did=d['did'],
        of=read_OperationName(d['of']),
        op=d['op'],
        pushed=[read_Pushed(x) for x in d['pushed'] or ()],
        refs=[read_RefMove(x) for x in d['refs'] or ()],
        skipped=[read_Skipped(x) for x in d['skipped'] or ()],
        skipped_all=d['skipped_all'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class OpShowAnswer(Answer):
    actor: str
    command: list[str]
    op: str
    redoes: str | None
    refs: list[RefMove]
    seq: int
    time: str
    undoes: str | None
    oldest: bool | None = None
    since: OperationName | None = None
    undone: bool | None = None


def read_OpShowAnswer(d: Any) -> OpShowAnswer:
    return OpShowAnswer(
        actor=d['actor'],
        command=d['command'] or [],
        op=d['op'],
        redoes=d['redoes'],
        refs=[read_RefMove(x) for x in d['refs'] or ()],
        seq=d['seq'],
        time=d['time'],
        undoes=d['undoes'],
        oldest=d.get('oldest'),
        since=read_OperationName(v) if (v := d.get('since')) is not None else None,
        undone=d.get('undone'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class PackRedactAnswer(Answer):
    closed: list[str]
    dry_run: bool
    erased: list[str]
    erasure_pending: bool
    left: list[str]
    erasure_denied: str | None = None


def read_PackRedactAnswer(d: Any) -> PackRedactAnswer:
    return PackRedactAnswer(
        closed=d['closed'] or [],
        dry_run=d['dry_run'],
        erased=d['erased'] or [],
        erasure_pending=d['erasure_pending'],
        left=d['left'] or [],
        erasure_denied=d.get('erasure_denied'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class PackRedactionsRedaction(Answer):
    actor: str | None
    cid: str
    reason: str | None
    record: str
    time: str
    what: str


def read_PackRedactionsRedaction(d: Any) -> PackRedactionsRedaction:
    return PackRedactionsRedaction(
        actor=d['actor'],
        cid=d['cid'],
        reason=d['reason'],
        record=d['record'],
        time=d['time'],
        what=d['what'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class PackRedactionsAnswer(Answer):
    more: bool
    redactions: list[PackRedactionsRedaction]


def read_PackRedactionsAnswer(d: Any) -> PackRedactionsAnswer:
    return PackRedactionsAnswer(
        more=d['more'],
        redactions=[read_PackRedactionsRedaction(x) for x in d['redactions'] or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Ref(Answer):
    ref: str
    target: str


def read_Ref(d: Any) -> Ref:
    return Ref(
        ref=d['ref'],
        target=d['target'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class PackRefsAnswer(Answer):
    head: str | None
    known: list[str]
    redactions: str
    refs: list[Ref]


def read_PackRefsAnswer(d: Any) -> PackRefsAnswer:
    return PackRefsAnswer(
        head=d['head'],
        known=d['known'] or [],
        redactions=d['redactions'],
        refs=[read_Ref(x) for x in d['refs'] or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class PinAnswer(Answer):
    already: list[str]
    branch: str
    changed: list[str]
    commit: str | None
    dry_run: bool
    graph: str | None
    no_change: bool
    pinned: bool
    warnings: list[SecretWarning] = field(default_factory=list)


def read_PinAnswer(d: Any) -> PinAnswer:
    return PinAnswer(
        already=d['already'] or [],
        branch=d['branch'],
        changed=d['changed'] or [],
        commit=d['commit'],
        dry_run=d['dry_run'],
        graph=d['graph'],
        no_change=d['no_change'],
        pinned=d['pinned'],
        warnings=[read_SecretWarning(x) for x in d.get('warnings') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class PurgeFile(Answer):
    done: str
    path: str | None
    what: str


def read_PurgeFile(d: Any) -> PurgeFile:
    return PurgeFile(
        done=d['done'],
        path=d['path'],
        what=d['what'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class PurgeHit(Answer):
    cid: str | None
    name: str | None
    what: str


def read_PurgeHit(d: Any) -> PurgeHit:
    return PurgeHit(
        cid=d['cid'],
        name=d['name'],
        what=d['what'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class PurgeRedacted(Answer):
    cid: str
    name: str | None
    what: str


def read_PurgeRedacted(d: Any) -> PurgeRedacted:
    return PurgeRedacted(
        cid=d['cid'],
        name=d['name'],
        what=d['what'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class PurgeShared(Answer):
    cid: str
    name: str | None
    what: str


def read_PurgeShared(d: Any) -> PurgeShared:
    return PurgeShared(
        cid=d['cid'],
        name=d['name'],
        what=d['what'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class PurgeAnswer(Answer):
    branches: list[Ref]
    derived: list[str]
    dry_run: bool
    elsewhere: list[str]
    erasure_pending: bool
    files: list[PurgeFile]
    hits: list[PurgeHit]
    more_hits: int
    node: str | None
    operation: str | None
    redacted: list[PurgeRedacted]
    shared: list[PurgeShared]
    stages: list[str]
    erasure_denied: str | None = None
    must_free: int | None = None


def read_PurgeAnswer(d: Any) -> PurgeAnswer:
    return PurgeAnswer(
        branches=[read_Ref(x) for x in d['branches'] or ()],
        derived=d['derived'] or [],
        dry_run=d['dry_run'],
        elsewhere=d['elsewhere'] or [],
        erasure_pending=d['erasure_pending'],
        files=[read_PurgeFile(x) for x in d['files'] or ()],
        hits=[read_PurgeHit(x) for x in d['hits'] or ()],
        more_hits=d['more_hits'],
        node=d['node'],
        operation=d['operation'],
        redacted=[read_PurgeRedacted(x) for x in d['redacted'] or ()],
        shared=[read_PurgeShared(x) for x in d['shared'] or ()],
        stages=d['stages'] or [],
        erasure_denied=d.get('erasure_denied'),
        must_free=d.get('must_free'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class DroppedBy(Answer):
    budget: int
    duplicate: int


def read_DroppedBy(d: Any) -> DroppedBy:
    return DroppedBy(
        budget=d['budget'],
        duplicate=d['duplicate'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Lane(Answer):
    lane: str
    rank: int
    score: int
    share: int | None = None
    weight: int | None = None


def read_Lane(d: Any) -> Lane:
    return Lane(
        lane=d['lane'],
        rank=d['rank'],
        score=d['score'],
        share=d.get('share'),
        weight=d.get('weight'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Path(Answer):
    edge: str | None
    forward: bool
    id: str


def read_Path(d: Any) -> Path:
    return Path(
        edge=d['edge'],
        forward=d['forward'],
        id=d['id'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Beam(Answer):
    hops: int
    path: list[Path]
    seed: str


def read_Beam(d: Any) -> Beam:
    return Beam(
        hops=d['hops'],
        path=[read_Path(x) for x in d['path'] or ()],
        seed=d['seed'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Community(Answer):
    number: int
    seed: str
    size: int


def read_Community(d: Any) -> Community:
    return Community(
        number=d['number'],
        seed=d['seed'],
        size=d['size'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Replaced(Answer):
    actor: str
    by: str
    time: str


def read_Replaced(d: Any) -> Replaced:
    return Replaced(
        actor=d['actor'],
        by=d['by'],
        time=d['time'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Signal(Answer):
    entity: int
    graph: int
    keyword: int
    similarity: int


def read_Signal(d: Any) -> Signal:
    return Signal(
        entity=d['entity'],
        graph=d['graph'],
        keyword=d['keyword'],
        similarity=d['similarity'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Term(Answer):
    score: int
    term: str
    added: bool | None = None
    read_as: str | None = None


def read_Term(d: Any) -> Term:
    return Term(
        score=d['score'],
        term=d['term'],
        added=d.get('added'),
        read_as=d.get('read_as'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Item(Answer):
    id: str
    key: str | None
    lanes: list[Lane]
    rank: int
    rendered: str
    score: int
    tokens: int
    type: str
    band: str | None = None
    beam: Beam | None = None
    community: Community | None = None
    contradicts: str | None = None
    hops: int | None = None
    path: list[Path] = field(default_factory=list)
    replaced: Replaced | None = None
    repository: str | None = None
    seed: str | None = None
    signals: Signal | None = None
    terms: list[Term] = field(default_factory=list)
    tier: int | None = None
    why: str | None = None


def read_Item(d: Any) -> Item:
    return Item(
        id=d['id'],
        key=d['key'],
        lanes=[read_Lane(x) for x in d['lanes'] or ()],
        rank=d['rank'],
        rendered=d['rendered'],
        score=d['score'],
        tokens=d['tokens'],
        type=d['type'],
        band=d.get('band'),
        beam=read_Beam(v) if (v := d.get('beam')) is not None else None,
        community=read_Community(v) if (v := d.get('community')) is not None else None,
        contradicts=d.get('contradicts'),
        hops=d.get('hops'),
        path=[read_Path(x) for x in d.get('path') or ()],
        replaced=read_Replaced(v) if (v := d.get('replaced')) is not None else None,
        repository=d.get('repository'),
        seed=d.get('seed'),
        signals=read_Signal(v) if (v := d.get('signals')) is not None else None,
        terms=[read_Term(x) for x in d.get('terms') or ()],
        tier=d.get('tier'),
        why=d.get('why'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Warning(Answer):
    code: str
    message: str
    remedy: str
    repository: str | None = None


def read_Warning(d: Any) -> Warning:
    return Warning(
        code=d['code'],
        message=d['message'],
        remedy=d['remedy'],
        repository=d.get('repository'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Date(Answer):
    from_: str | None
    to: str | None


def read_Date(d: Any) -> Date:
    return Date(
        from_=d['from'],
        to=d['to'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Digest(Answer):
    covers: list[str]
    digest: str
    facts: int
    found: int
    rendered: str
    score: int
    source: str
    tokens: int
    band: str | None = None


def read_Digest(d: Any) -> Digest:
    return Digest(
        covers=d['covers'] or [],
        digest=d['digest'],
        facts=d['facts'],
        found=d['found'],
        rendered=d['rendered'],
        score=d['score'],
        source=d['source'],
        tokens=d['tokens'],
        band=d.get('band'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class DroppedItem(Answer):
    id: str
    reason: str
    repeats: str | None
    tokens: int


def read_DroppedItem(d: Any) -> DroppedItem:
    return DroppedItem(
        id=d['id'],
        reason=d['reason'],
        repeats=d['repeats'],
        tokens=d['tokens'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Missing(Answer):
    kind: float
    text: str


def read_Missing(d: Any) -> Missing:
    return Missing(
        kind=d['kind'],
        text=d['text'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Recall(Answer):
    depth: int
    visited: int
    visited_limit: int
    weights: Signal
    width: int


def read_Recall(d: Any) -> Recall:
    return Recall(
        depth=d['depth'],
        visited=d['visited'],
        visited_limit=d['visited_limit'],
        weights=read_Signal(d['weights']),
        width=d['width'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Repository(Answer):
    commit: str | None
    items: int
    repository: str
    share: int


def read_Repository(d: Any) -> Repository:
    return Repository(
        commit=d['commit'],
        items=d['items'],
        repository=d['repository'],
        share=d['share'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class LeftOut(Answer):
    exclude: int
    marks: int
    time: int
    type: int
    where: int


def read_LeftOut(d: Any) -> LeftOut:
    return LeftOut(
        exclude=d['exclude'],
        marks=d['marks'],
        time=d['time'],
        type=d['type'],
        where=d['where'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class TraceLane(Answer):
    best: int
    found: int
    lane: str
    left_out: LeftOut
    passed: int
    weight: int
    worst: int


def read_TraceLane(d: Any) -> TraceLane:
    return TraceLane(
        best=d['best'],
        found=d['found'],
        lane=d['lane'],
        left_out=read_LeftOut(d['left_out']),
        passed=d['passed'],
        weight=d['weight'],
        worst=d['worst'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Stage(Answer):
    micros: int
    stage: str


def read_Stage(d: Any) -> Stage:
    return Stage(
        micros=d['micros'],
        stage=d['stage'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Trace(Answer):
    fusion: str
    lanes: list[TraceLane]
    stages: list[Stage]


def read_Trace(d: Any) -> Trace:
    return Trace(
        fusion=d['fusion'],
        lanes=[read_TraceLane(x) for x in d['lanes'] or ()],
        stages=[read_Stage(x) for x in d['stages'] or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RecallAnswer(Answer):
    candidates_seen: int
    commit: str
    dropped: int
    dropped_by: DroppedBy
    items: list[Item]
    query: str
    receipt: str | None
    tokens_budget: int
    tokens_used: int
    warnings: list[Warning]
    because: str | None = None
    covered: int | None = None
    dates: list[Date] = field(default_factory=list)
    digests: list[Digest] = field(default_factory=list)
    dropped_items: list[DroppedItem] = field(default_factory=list)
    intent: str | None = None
    missing: list[Missing] = field(default_factory=list)
    profile: str | None = None
    qid: str | None = None
    recall: Recall | None = None
    repositories: list[Repository] = field(default_factory=list)
    trace: Trace | None = None
    verdict: str | None = None


def read_RecallAnswer(d: Any) -> RecallAnswer:
    return RecallAnswer(
        candidates_seen=d['candidates_seen'],
        commit=d['commit'],
        dropped=d['dropped'],
        dropped_by=read_DroppedBy(d['dropped_by']),
        items=[read_Item(x) for x in d['items'] or ()],
        query=d['query'],
        receipt=d['receipt'],
        tokens_budget=d['tokens_budget'],
        tokens_used=d['tokens_used'],
        warnings=[read_Warning(x) for x in d['warnings'] or ()],
        because=d.get('because'),
        covered=d.get('covered'),
        dates=[read_Date(x) for x in d.get('dates') or ()],
        digests=[read_Digest(x) for x in d.get('digests') or ()],
        dropped_items=[read_DroppedItem(x) for x in d.get('dropped_items') or ()],
        intent=d.get('intent'),
        missing=[read_Missing(x) for x in d.get('missing') or ()],
        profile=d.get('profile'),
        qid=d.get('qid'),
        recall=read_Recall(v) if (v := d.get('recall')) is not None else None,
        repositories=[read_Repository(x) for x in d.get('repositories') or ()],
        trace=read_Trace(v) if (v := d.get('trace')) is not None else None,
        verdict=d.get('verdict'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RecallBatchAnswer(Answer):
    candidates_seen: int
    commit: str
    dropped: int
    dropped_by: DroppedBy
    items: list[Item]
    query: str
    receipt: str | None
    tokens_budget: int
    tokens_used: int
    warnings: list[Warning]
    because: str | None = None
    covered: int | None = None
    dates: list[Date] = field(default_factory=list)
    digests: list[Digest] = field(default_factory=list)
    dropped_items: list[DroppedItem] = field(default_factory=list)
    intent: str | None = None
    missing: list[Missing] = field(default_factory=list)
    profile: str | None = None
    qid: str | None = None
    recall: Recall | None = None
    repositories: list[Repository] = field(default_factory=list)
    trace: Trace | None = None
    verdict: str | None = None


def read_RecallBatchAnswer(d: Any) -> RecallBatchAnswer:
    return RecallBatchAnswer(
        candidates_seen=d['candidates_seen'],
        commit=d['commit'],
        dropped=d['dropped'],
        dropped_by=read_DroppedBy(d['dropped_by']),
        items=[read_Item(x) for x in d['items'] or ()],
        query=d['query'],
        receipt=d['receipt'],
        tokens_budget=d['tokens_budget'],
        tokens_used=d['tokens_used'],
        warnings=[read_Warning(x) for x in d['warnings'] or ()],
        because=d.get('because'),
        covered=d.get('covered'),
        dates=[read_Date(x) for x in d.get('dates') or ()],
        digests=[read_Digest(x) for x in d.get('digests') or ()],
        dropped_items=[read_DroppedItem(x) for x in d.get('dropped_items') or ()],
        intent=d.get('intent'),
        missing=[read_Missing(x) for x in d.get('missing') or ()],
        profile=d.get('profile'),
        qid=d.get('qid'),
        recall=read_Recall(v) if (v := d.get('recall')) is not None else None,
        repositories=[read_Repository(x) for x in d.get('repositories') or ()],
        trace=read_Trace(v) if (v := d.get('trace')) is not None else None,
        verdict=d.get('verdict'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RememberCandidate(Answer):
    id: str
    kind: str
    score: int


def read_RememberCandidate(d: Any) -> RememberCandidate:
    return RememberCandidate(
        id=d['id'],
        kind=d['kind'],
        score=d['score'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RememberSimilarDiffer(Answer):
    kind: str
    new: str
    old: str


def read_RememberSimilarDiffer(d: Any) -> RememberSimilarDiffer:
    return RememberSimilarDiffer(
        kind=d['kind'],
        new=d['new'],
        old=d['old'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RememberSimilar(Answer):
    cosine: int | None
    differs: list[RememberSimilarDiffer]
    id: str
    similarity: int
    suggest: str
    summary: str


def read_RememberSimilar(d: Any) -> RememberSimilar:
    return RememberSimilar(
        cosine=d['cosine'],
        differs=[read_RememberSimilarDiffer(x) for x in d['differs'] or ()],
        id=d['id'],
        similarity=d['similarity'],
        suggest=d['suggest'],
        summary=d['summary'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RememberWarning(Answer):
    code: str
    detail: str
    message: str


def read_RememberWarning(d: Any) -> RememberWarning:
    return RememberWarning(
        code=d['code'],
        detail=d['detail'],
        message=d['message'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RememberLink(Answer):
    dst: str
    src: str
    type: str
    weight: int
    why: str


def read_RememberLink(d: Any) -> RememberLink:
    return RememberLink(
        dst=d['dst'],
        src=d['src'],
        type=d['type'],
        weight=d['weight'],
        why=d['why'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RememberNearest(Answer):
    date: str
    id: str
    text: str


def read_RememberNearest(d: Any) -> RememberNearest:
    return RememberNearest(
        date=d['date'],
        id=d['id'],
        text=d['text'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RememberAnswer(Answer):
    action: str
    candidates: list[RememberCandidate]
    commit: str | None
    dry_run: bool
    edges: dict[str, Any]
    effective: int
    id: str
    importance: int
    no_change: bool
    similar: list[RememberSimilar]
    superseded: list[str]
    type: str
    warnings: list[RememberWarning]
    links: list[RememberLink] = field(default_factory=list)
    nearest: list[RememberNearest] = field(default_factory=list)
    repository: str | None = None
    settle: str | None = None


def read_RememberAnswer(d: Any) -> RememberAnswer:
    return RememberAnswer(
        action=d['action'],
        candidates=[read_RememberCandidate(x) for x in d['candidates'] or ()],
        commit=d['commit'],
        dry_run=d['dry_run'],
        edges=d['edges'],
        effective=d['effective'],
        id=d['id'],
        importance=d['importance'],
        no_change=d['no_change'],
        similar=[read_RememberSimilar(x) for x in d['similar'] or ()],
        superseded=d['superseded'] or [],
        type=d['type'],
        warnings=[read_RememberWarning(x) for x in d['warnings'] or ()],
        links=[read_RememberLink(x) for x in d.get('links') or ()],
        nearest=[read_RememberNearest(x) for x in d.get('nearest') or ()],
        repository=d.get('repository'),
        settle=d.get('settle'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RememberBatchAnswer(Answer):
    action: str
    candidates: list[RememberCandidate]
    commit: str | None
    dry_run: bool
    edges: dict[str, Any]
    effective: int
    id: str
    importance: int
    no_change: bool
    similar: list[RememberSimilar]
    superseded: list[str]
    type: str
    warnings: list[RememberWarning]
    links: list[RememberLink] = field(default_factory=list)
    nearest: list[RememberNearest] = field(default_factory=list)
    repository: str | None = None
    settle: str | None = None


def read_RememberBatchAnswer(d: Any) -> RememberBatchAnswer:
    return RememberBatchAnswer(
        action=d['action'],
        candidates=[read_RememberCandidate(x) for x in d['candidates'] or ()],
        commit=d['commit'],
        dry_run=d['dry_run'],
        edges=d['edges'],
        effective=d['effective'],
        id=d['id'],
        importance=d['importance'],
        no_change=d['no_change'],
        similar=[read_RememberSimilar(x) for x in d['similar'] or ()],
        superseded=d['superseded'] or [],
        type=d['type'],
        warnings=[read_RememberWarning(x) for x in d['warnings'] or ()],
        links=[read_RememberLink(x) for x in d.get('links') or ()],
        nearest=[read_RememberNearest(x) for x in d.get('nearest') or ()],
        repository=d.get('repository'),
        settle=d.get('settle'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RemoteRedactionsRedaction(Answer):
    actor: str | None
    cid: str
    decision: str
    key: str | None
    reason: str | None
    record: str
    remote: str | None
    time: str
    what: str


def read_RemoteRedactionsRedaction(d: Any) -> RemoteRedactionsRedaction:
    return RemoteRedactionsRedaction(
        actor=d['actor'],
        cid=d['cid'],
        decision=d['decision'],
        key=d['key'],
        reason=d['reason'],
        record=d['record'],
        remote=d['remote'],
        time=d['time'],
        what=d['what'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RemoteRedactionsAnswer(Answer):
    redactions: list[RemoteRedactionsRedaction]
    remote: str | None


def read_RemoteRedactionsAnswer(d: Any) -> RemoteRedactionsAnswer:
    return RemoteRedactionsAnswer(
        redactions=[read_RemoteRedactionsRedaction(x) for x in d['redactions'] or ()],
        remote=d['remote'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RedactionsClosed(Answer):
    closed: list[str]
    erased: list[str]
    erasure_pending: bool
    remote: str
    waiting: int
    erasure_denied: str | None = None


def read_RedactionsClosed(d: Any) -> RedactionsClosed:
    return RedactionsClosed(
        closed=d['closed'] or [],
        erased=d['erased'] or [],
        erasure_pending=d['erasure_pending'],
        remote=d['remote'],
        waiting=d['waiting'],
        erasure_denied=d.get('erasure_denied'),
    )


def read_RemoteRedactionsAnswer_forms(d: Any) -> RemoteRedactionsAnswer | RedactionsClosed:
    if has(d, ('closed', 'erased', 'erasure_pending', 'remote', 'waiting')):
        return read_RedactionsClosed(d)
    if has(d, ('redactions', 'remote')):
        return read_RemoteRedactionsAnswer(d)
    return read_RemoteRedactionsAnswer(d)


@dataclass(kw_only=True, eq=False, repr=False)
class ResetAnswer(Answer):
    edges: Counts
    nodes: Counts
    stage: str
    staged: bool


def read_ResetAnswer(d: Any) -> ResetAnswer:
    return ResetAnswer(
        edges=read_Counts(d['edges']),
        nodes=read_Counts(d['nodes']),
        stage=d['stage'],
        staged=d['staged'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RestoreAnswer(Answer):
    branch: str
    commit: str | None
    dry_run: bool
    duplicates: int
    edges: Counts
    graph: str | None
    no_change: bool
    nodes: Counts
    parents: list[str]
    unchanged: int
    changes: list[Change] = field(default_factory=list)
    rebased: bool | None = None
    unembedded: int | None = None
    warnings: list[SecretWarning] = field(default_factory=list)


def read_RestoreAnswer(d: Any) -> RestoreAnswer:
    return RestoreAnswer(
        branch=d['branch'],
        commit=d['commit'],
        dry_run=d['dry_run'],
        duplicates=d['duplicates'],
        edges=read_Counts(d['edges']),
        graph=d['graph'],
        no_change=d['no_change'],
        nodes=read_Counts(d['nodes']),
        parents=d['parents'] or [],
        unchanged=d['unchanged'],
        changes=[read_Change(x) for x in d.get('changes') or ()],
        rebased=d.get('rebased'),
        unembedded=d.get('unembedded'),
        warnings=[read_SecretWarning(x) for x in d.get('warnings') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RestoreMarks(Answer):
    already: list[str]
    branch: str
    commit: str | None
    dry_run: bool
    graph: str | None
    marked: list[str]
    no_change: bool
    state: str | None
    unmarked: list[str]
    warnings: list[SecretWarning] = field(default_factory=list)


def read_RestoreMarks(d: Any) -> RestoreMarks:
    return RestoreMarks(
        already=d['already'] or [],
        branch=d['branch'],
        commit=d['commit'],
        dry_run=d['dry_run'],
        graph=d['graph'],
        marked=d['marked'] or [],
        no_change=d['no_change'],
        state=d['state'],
        unmarked=d['unmarked'] or [],
        warnings=[read_SecretWarning(x) for x in d.get('warnings') or ()],
    )


def read_RestoreAnswer_forms(d: Any) -> RestoreAnswer | RestoreMarks:
    if has(d, ('branch', 'commit', 'dry_run', 'duplicates', 'edges', 'graph', 'no_change', 'nodes', 'parents', 'unchanged')):
        return read_RestoreAnswer(d)
    if has(d, ('already', 'branch', 'commit', 'dry_run', 'graph', 'marked', 'no_change', 'state', 'unmarked')):
        return read_RestoreMarks(d)
    return read_RestoreAnswer(d)


@dataclass(kw_only=True, eq=False, repr=False)
class RetrieveAnswer(Answer):
    candidates_seen: int
    commit: str
    dropped: int
    dropped_by: DroppedBy
    items: list[Item]
    query: str
    receipt: str | None
    tokens_budget: int
    tokens_used: int
    warnings: list[Warning]
    because: str | None = None
    covered: int | None = None
    dates: list[Date] = field(default_factory=list)
    digests: list[Digest] = field(default_factory=list)
    dropped_items: list[DroppedItem] = field(default_factory=list)
    intent: str | None = None
    missing: list[Missing] = field(default_factory=list)
    profile: str | None = None
    qid: str | None = None
    recall: Recall | None = None
    repositories: list[Repository] = field(default_factory=list)
    trace: Trace | None = None
    verdict: str | None = None


def read_RetrieveAnswer(d: Any) -> RetrieveAnswer:
    return RetrieveAnswer(
        candidates_seen=d['candidates_seen'],
        commit=d['commit'],
        dropped=d['dropped'],
        dropped_by=read_DroppedBy(d['dropped_by']),
        items=[read_Item(x) for x in d['items'] or ()],
        query=d['query'],
        receipt=d['receipt'],
        tokens_budget=d['tokens_budget'],
        tokens_used=d['tokens_used'],
        warnings=[read_Warning(x) for x in d['warnings'] or ()],
        because=d.get('because'),
        covered=d.get('covered'),
        dates=[read_Date(x) for x in d.get('dates') or ()],
        digests=[read_Digest(x) for x in d.get('digests') or ()],
        dropped_items=[read_DroppedItem(x) for x in d.get('dropped_items') or ()],
        intent=d.get('intent'),
        missing=[read_Missing(x) for x in d.get('missing') or ()],
        profile=d.get('profile'),
        qid=d.get('qid'),
        recall=read_Recall(v) if (v := d.get('recall')) is not None else None,
        repositories=[read_Repository(x) for x in d.get('repositories') or ()],
        trace=read_Trace(v) if (v := d.get('trace')) is not None else None,
        verdict=d.get('verdict'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RetrieveBatchAnswer(Answer):
    candidates_seen: int
    commit: str
    dropped: int
    dropped_by: DroppedBy
    items: list[Item]
    query: str
    receipt: str | None
    tokens_budget: int
    tokens_used: int
    warnings: list[Warning]
    because: str | None = None
    covered: int | None = None
    dates: list[Date] = field(default_factory=list)
    digests: list[Digest] = field(default_factory=list)
    dropped_items: list[DroppedItem] = field(default_factory=list)
    intent: str | None = None
    missing: list[Missing] = field(default_factory=list)
    profile: str | None = None
    qid: str | None = None
    recall: Recall | None = None
    repositories: list[Repository] = field(default_factory=list)
    trace: Trace | None = None
    verdict: str | None = None


def read_RetrieveBatchAnswer(d: Any) -> RetrieveBatchAnswer:
    return RetrieveBatchAnswer(
        candidates_seen=d['candidates_seen'],
        commit=d['commit'],
        dropped=d['dropped'],
        dropped_by=read_DroppedBy(d['dropped_by']),
        items=[read_Item(x) for x in d['items'] or ()],
        query=d['query'],
        receipt=d['receipt'],
        tokens_budget=d['tokens_budget'],
        tokens_used=d['tokens_used'],
        warnings=[read_Warning(x) for x in d['warnings'] or ()],
        because=d.get('because'),
        covered=d.get('covered'),
        dates=[read_Date(x) for x in d.get('dates') or ()],
        digests=[read_Digest(x) for x in d.get('digests') or ()],
        dropped_items=[read_DroppedItem(x) for x in d.get('dropped_items') or ()],
        intent=d.get('intent'),
        missing=[read_Missing(x) for x in d.get('missing') or ()],
        profile=d.get('profile'),
        qid=d.get('qid'),
        recall=read_Recall(v) if (v := d.get('recall')) is not None else None,
        repositories=[read_Repository(x) for x in d.get('repositories') or ()],
        trace=read_Trace(v) if (v := d.get('trace')) is not None else None,
        verdict=d.get('verdict'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RevertAnswer(Answer):
    branch: str
    commit: str | None
    conflicts: list[Conflict]
    dry_run: bool
    edges: Counts
    fast_forward: bool
    graph: str | None
    no_change: bool
    nodes: Counts
    parents: list[str]
    vectors_dropped: int
    warnings: list[SecretWarning] = field(default_factory=list)


def read_RevertAnswer(d: Any) -> RevertAnswer:
    return RevertAnswer(
        branch=d['branch'],
        commit=d['commit'],
        conflicts=[read_Conflict(x) for x in d['conflicts'] or ()],
        dry_run=d['dry_run'],
        edges=read_Counts(d['edges']),
        fast_forward=d['fast_forward'],
        graph=d['graph'],
        no_change=d['no_change'],
        nodes=read_Counts(d['nodes']),
        parents=d['parents'] or [],
        vectors_dropped=d['vectors_dropped'],
        warnings=[read_SecretWarning(x) for x in d.get('warnings') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ReviewItem(Answer):
    created: str
    id: str
    key: str | None
    pinned: bool
    sources: list[str]
    state: str | None
    text: str
    type: str


def read_ReviewItem(d: Any) -> ReviewItem:
    return ReviewItem(
        created=d['created'],
        id=d['id'],
        key=d['key'],
        pinned=d['pinned'],
        sources=d['sources'] or [],
        state=d['state'],
        text=d['text'],
        type=d['type'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ReviewUndecided(Answer):
    differ: str
    earlier: ReviewItem
    later: ReviewItem
    settle: str


def read_ReviewUndecided(d: Any) -> ReviewUndecided:
    return ReviewUndecided(
        differ=d['differ'],
        earlier=read_ReviewItem(d['earlier']),
        later=read_ReviewItem(d['later']),
        settle=d['settle'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ReviewAnswer(Answer):
    already: list[str]
    branch: str
    commit: str | None
    dropped: list[str]
    dry_run: bool
    edited: list[str]
    head: str | None
    items: list[ReviewItem]
    kept: list[str]
    left: int
    pinned: list[str]
    since: str | None
    undecided: list[ReviewUndecided]
    warnings: list[SecretWarning] = field(default_factory=list)


def read_ReviewAnswer(d: Any) -> ReviewAnswer:
    return ReviewAnswer(
        already=d['already'] or [],
        branch=d['branch'],
        commit=d['commit'],
        dropped=d['dropped'] or [],
        dry_run=d['dry_run'],
        edited=d['edited'] or [],
        head=d['head'],
        items=[read_ReviewItem(x) for x in d['items'] or ()],
        kept=d['kept'] or [],
        left=d['left'],
        pinned=d['pinned'] or [],
        since=d['since'],
        undecided=[read_ReviewUndecided(x) for x in d['undecided'] or ()],
        warnings=[read_SecretWarning(x) for x in d.get('warnings') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class RmAnswer(Answer):
    duplicates: int
    edges: Counts
    nodes: Counts
    stage: str
    unchanged: int
    warnings: list[SecretWarning] = field(default_factory=list)


def read_RmAnswer(d: Any) -> RmAnswer:
    return RmAnswer(
        duplicates=d['duplicates'],
        edges=read_Counts(d['edges']),
        nodes=read_Counts(d['nodes']),
        stage=d['stage'],
        unchanged=d['unchanged'],
        warnings=[read_SecretWarning(x) for x in d.get('warnings') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SessionAdvanceAnswer(Answer):
    actor: str
    agent: str | None
    commit: str | None
    ended: bool
    follow: bool
    of: str
    records: int
    session: str
    task: str | None
    time: str


def read_SessionAdvanceAnswer(d: Any) -> SessionAdvanceAnswer:
    return SessionAdvanceAnswer(
        actor=d['actor'],
        agent=d['agent'],
        commit=d['commit'],
        ended=d['ended'],
        follow=d['follow'],
        of=d['of'],
        records=d['records'],
        session=d['session'],
        task=d['task'],
        time=d['time'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SessionEndAnswer(Answer):
    actor: str
    agent: str | None
    commit: str | None
    ended: bool
    follow: bool
    of: str
    records: int
    session: str
    task: str | None
    time: str


def read_SessionEndAnswer(d: Any) -> SessionEndAnswer:
    return SessionEndAnswer(
        actor=d['actor'],
        agent=d['agent'],
        commit=d['commit'],
        ended=d['ended'],
        follow=d['follow'],
        of=d['of'],
        records=d['records'],
        session=d['session'],
        task=d['task'],
        time=d['time'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SessionListAnswer(Answer):
    actor: str
    agent: str | None
    commit: str | None
    ended: bool
    follow: bool
    of: str
    records: int
    session: str
    task: str | None
    time: str


def read_SessionListAnswer(d: Any) -> SessionListAnswer:
    return SessionListAnswer(
        actor=d['actor'],
        agent=d['agent'],
        commit=d['commit'],
        ended=d['ended'],
        follow=d['follow'],
        of=d['of'],
        records=d['records'],
        session=d['session'],
        task=d['task'],
        time=d['time'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SessionLogAnswer(Answer):
    actor: str
    commit: str | None
    event: str
    items: int | None
    query: str | None
    receipt: str | None
    record: str
    time: str
    title: str | None
    tokens: int | None


def read_SessionLogAnswer(d: Any) -> SessionLogAnswer:
    return SessionLogAnswer(
        actor=d['actor'],
        commit=d['commit'],
        event=d['event'],
        items=d['items'],
        query=d['query'],
        receipt=d['receipt'],
        record=d['record'],
        time=d['time'],
        title=d['title'],
        tokens=d['tokens'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SessionReplayFirstDifference(Answer):
    field: str
    item: int | None
    new: str
    number: int
    old: str
    receipt: str


def read_SessionReplayFirstDifference(d: Any) -> SessionReplayFirstDifference:
    return SessionReplayFirstDifference(
        field=d['field'],
        item=d['item'],
        new=d['new'],
        number=d['number'],
        old=d['old'],
        receipt=d['receipt'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SessionReplayRedacted(Answer):
    actor: str
    cid: str
    node: str | None
    reason: str | None
    time: str
    what: str


def read_SessionReplayRedacted(d: Any) -> SessionReplayRedacted:
    return SessionReplayRedacted(
        actor=d['actor'],
        cid=d['cid'],
        node=d['node'],
        reason=d['reason'],
        time=d['time'],
        what=d['what'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SessionReplayAnswer(Answer):
    first_difference: SessionReplayFirstDifference | None
    identical: bool | None
    receipts: int
    session: str | None
    redacted: list[SessionReplayRedacted] = field(default_factory=list)


def read_SessionReplayAnswer(d: Any) -> SessionReplayAnswer:
    return SessionReplayAnswer(
        first_difference=read_SessionReplayFirstDifference(v) if (v := d['first_difference']) is not None else None,
        identical=d['identical'],
        receipts=d['receipts'],
        session=d['session'],
        redacted=[read_SessionReplayRedacted(x) for x in d.get('redacted') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SessionRmAnswer(Answer):
    removed: str


def read_SessionRmAnswer(d: Any) -> SessionRmAnswer:
    return SessionRmAnswer(
        removed=d['removed'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SessionStartAnswer(Answer):
    actor: str
    agent: str | None
    commit: str | None
    ended: bool
    follow: bool
    of: str
    records: int
    session: str
    task: str | None
    time: str


def read_SessionStartAnswer(d: Any) -> SessionStartAnswer:
    return SessionStartAnswer(
        actor=d['actor'],
        agent=d['agent'],
        commit=d['commit'],
        ended=d['ended'],
        follow=d['follow'],
        of=d['of'],
        records=d['records'],
        session=d['session'],
        task=d['task'],
        time=d['time'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ShowAnswer(Answer):
    cid: str
    commit: str | None
    content: str | None
    context: str | None
    created: str
    id: str
    in_: list[In]
    key: str | None
    mark: Mark | None
    media: str | None
    more_in: int
    more_out: int
    out: list[In]
    props: dict[str, Any]
    sources: list[str]
    summary: str | None
    type: str
    updated: str | None
    valid_from: str | None
    valid_to: str | None
    cues: list[str] = field(default_factory=list)
    importance: Importance | None = None
    now: str | None = None


def read_ShowAnswer(d: Any) -> ShowAnswer:
    return ShowAnswer(
        cid=d['cid'],
        commit=d['commit'],
        content=d['content'],
        context=d['context'],
        created=d['created'],
        id=d['id'],
        in_=[read_In(x) for x in d['in'] or ()],
        key=d['key'],
        mark=read_Mark(v) if (v := d['mark']) is not None else None,
        media=d['media'],
        more_in=d['more_in'],
        more_out=d['more_out'],
        out=[read_In(x) for x in d['out'] or ()],
        props=d['props'],
        sources=d['sources'] or [],
        summary=d['summary'],
        type=d['type'],
        updated=d['updated'],
        valid_from=d['validFrom'],
        valid_to=d['validTo'],
        cues=d.get('cues') or [],
        importance=read_Importance(v) if (v := d.get('importance')) is not None else None,
        now=d.get('now'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Diff(Answer):
    counts: Count
    edges: list[Edge]
    from_: str | None
    nodes: list[Node]
    to: str | None
    profiles: Profile | None = None
    stage: str | None = None
    title: str | None = None


def read_Diff(d: Any) -> Diff:
    return Diff(
        counts=read_Count(d['counts']),
        edges=[read_Edge(x) for x in d['edges'] or ()],
        from_=d['from'],
        nodes=[read_Node(x) for x in d['nodes'] or ()],
        to=d['to'],
        profiles=read_Profile(v) if (v := d.get('profiles')) is not None else None,
        stage=d.get('stage'),
        title=d.get('title'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ShowCommit(Answer):
    agent: str | None
    author: str
    commit: str
    diff: Diff
    edges: Counts
    graph: str
    message: str
    nodes: Counts
    parents: list[str]
    task: str | None
    time: str
    git: str | None = None
    profiles: list[str] = field(default_factory=list)
    signature: Signature | None = None
    stat: Stat | None = None
    title: str | None = None


def read_ShowCommit(d: Any) -> ShowCommit:
    return ShowCommit(
        agent=d['agent'],
        author=d['author'],
        commit=d['commit'],
        diff=read_Diff(d['diff']),
        edges=read_Counts(d['edges']),
        graph=d['graph'],
        message=d['message'],
        nodes=read_Counts(d['nodes']),
        parents=d['parents'] or [],
        task=d['task'],
        time=d['time'],
        git=d.get('git'),
        profiles=d.get('profiles') or [],
        signature=read_Signature(v) if (v := d.get('signature')) is not None else None,
        stat=read_Stat(v) if (v := d.get('stat')) is not None else None,
        title=d.get('title'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ShowEdge(Answer):
    cid: str
    created: str
    dst: str
    dst_key: str | None
    id: str
    key: str | None
    mark: Mark | None
    props: dict[str, Any]
    sources: list[str]
    src: str
    src_key: str | None
    type: str
    valid_from: str | None
    valid_to: str | None
    weight: float


def read_ShowEdge(d: Any) -> ShowEdge:
    return ShowEdge(
        cid=d['cid'],
        created=d['created'],
        dst=d['dst'],
        dst_key=d['dst_key'],
        id=d['id'],
        key=d['key'],
        mark=read_Mark(v) if (v := d['mark']) is not None else None,
        props=d['props'],
        sources=d['sources'] or [],
        src=d['src'],
        src_key=d['src_key'],
        type=d['type'],
        valid_from=d['validFrom'],
        valid_to=d['validTo'],
        weight=d['weight'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ShowOperation(Answer):
    actor: str
    command: list[str]
    op: str
    redoes: str | None
    refs: list[RefMove]
    seq: int
    time: str
    undoes: str | None
    oldest: bool | None = None
    since: OperationName | None = None
    undone: bool | None = None


def read_ShowOperation(d: Any) -> ShowOperation:
    return ShowOperation(
        actor=d['actor'],
        command=d['command'] or [],
        op=d['op'],
        redoes=d['redoes'],
        refs=[read_RefMove(x) for x in d['refs'] or ()],
        seq=d['seq'],
        time=d['time'],
        undoes=d['undoes'],
        oldest=d.get('oldest'),
        since=read_OperationName(v) if (v := d.get('since')) is not None else None,
        undone=d.get('undone'),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ShowBlock(Answer):
    cid: str
    data: Any
    kind: str | None
    size: int


def read_ShowBlock(d: Any) -> ShowBlock:
    return ShowBlock(
        cid=d['cid'],
        data=d['data'],
        kind=d['kind'],
        size=d['size'],
    )


def read_ShowAnswer_forms(d: Any) -> ShowAnswer | ShowCommit | ShowEdge | ShowOperation | ShowBlock | Any:
    if has(d, ('cid', 'commit', 'content', 'context', 'created', 'id', 'in', 'key', 'mark', 'media', 'more_in', 'more_out', 'out', 'props', 'sources', 'summary', 'type', 'updated', 'validFrom', 'validTo')):
        return read_ShowAnswer(d)
    if has(d, ('cid', 'created', 'dst', 'dst_key', 'id', 'key', 'mark', 'props', 'sources', 'src', 'src_key', 'type', 'validFrom', 'validTo', 'weight')):
        return read_ShowEdge(d)
    if has(d, ('agent', 'author', 'commit', 'diff', 'edges', 'graph', 'message', 'nodes', 'parents', 'task', 'time')):
        return read_ShowCommit(d)
    if has(d, ('actor', 'command', 'op', 'redoes', 'refs', 'seq', 'time', 'undoes')):
        return read_ShowOperation(d)
    if has(d, ('cid', 'data', 'kind', 'size')):
        return read_ShowBlock(d)
    return d


@dataclass(kw_only=True, eq=False, repr=False)
class StatsEdgeType(Answer):
    count: int
    type: str


def read_StatsEdgeType(d: Any) -> StatsEdgeType:
    return StatsEdgeType(
        count=d['count'],
        type=d['type'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class StatsEdge(Answer):
    by_type: dict[str, Any]
    total: int


def read_StatsEdge(d: Any) -> StatsEdge:
    return StatsEdge(
        by_type=d['by_type'],
        total=d['total'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class StatsIndexField(Answer):
    field: str
    nodes: int
    terms: int


def read_StatsIndexField(d: Any) -> StatsIndexField:
    return StatsIndexField(
        field=d['field'],
        nodes=d['nodes'],
        terms=d['terms'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class StatsIndex(Answer):
    fields: list[StatsIndexField]
    manifest: str | None
    nodes: int
    segments: int
    terms: int


def read_StatsIndex(d: Any) -> StatsIndex:
    return StatsIndex(
        fields=[read_StatsIndexField(x) for x in d['fields'] or ()],
        manifest=d['manifest'],
        nodes=d['nodes'],
        segments=d['segments'],
        terms=d['terms'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class StatsMark(Answer):
    by_state: dict[str, Any]
    total: int


def read_StatsMark(d: Any) -> StatsMark:
    return StatsMark(
        by_state=d['by_state'],
        total=d['total'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class StatsStore(Answer):
    block_bytes: int
    blocks: int
    branches: int
    bytes: int
    derived_blocks: int
    derived_bytes: int
    disk_bytes: int
    operations: int
    tags: int


def read_StatsStore(d: Any) -> StatsStore:
    return StatsStore(
        block_bytes=d['block_bytes'],
        blocks=d['blocks'],
        branches=d['branches'],
        bytes=d['bytes'],
        derived_blocks=d['derived_blocks'],
        derived_bytes=d['derived_bytes'],
        disk_bytes=d['disk_bytes'],
        operations=d['operations'],
        tags=d['tags'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class StatsAnswer(Answer):
    agents: dict[str, Any]
    commit: str | None
    edge_types: list[StatsEdgeType]
    edges: StatsEdge
    embeddings: int
    graph: str | None
    index: StatsIndex
    marks: StatsMark
    node_types: list[StatsEdgeType]
    nodes: StatsEdge
    store: StatsStore


def read_StatsAnswer(d: Any) -> StatsAnswer:
    return StatsAnswer(
        agents=d['agents'],
        commit=d['commit'],
        edge_types=[read_StatsEdgeType(x) for x in d['edge_types'] or ()],
        edges=read_StatsEdge(d['edges']),
        embeddings=d['embeddings'],
        graph=d['graph'],
        index=read_StatsIndex(d['index']),
        marks=read_StatsMark(d['marks']),
        node_types=[read_StatsEdgeType(x) for x in d['node_types'] or ()],
        nodes=read_StatsEdge(d['nodes']),
        store=read_StatsStore(d['store']),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class StatsSchemaEdgeType(Answer):
    count: int
    from_: list[StatsEdgeType]
    more_from: int
    more_to: int
    to: list[StatsEdgeType]
    type: str


def read_StatsSchemaEdgeType(d: Any) -> StatsSchemaEdgeType:
    return StatsSchemaEdgeType(
        count=d['count'],
        from_=[read_StatsEdgeType(x) for x in d['from'] or ()],
        more_from=d['more_from'],
        more_to=d['more_to'],
        to=[read_StatsEdgeType(x) for x in d['to'] or ()],
        type=d['type'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class StatsSchemaProperty(Answer):
    count: int
    examples: list[Any]
    kinds: list[str]
    more_types: int
    name: str
    types: list[StatsEdgeType]


def read_StatsSchemaProperty(d: Any) -> StatsSchemaProperty:
    return StatsSchemaProperty(
        count=d['count'],
        examples=d['examples'] or [],
        kinds=d['kinds'] or [],
        more_types=d['more_types'],
        name=d['name'],
        types=[read_StatsEdgeType(x) for x in d['types'] or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class StatsSchema(Answer):
    commit: str | None
    edge_types: list[StatsSchemaEdgeType]
    edges: int
    more_edge_types: int
    more_node_types: int
    more_properties: int
    node_types: list[StatsEdgeType]
    nodes: int
    properties: list[StatsSchemaProperty]
    untold: int


def read_StatsSchema(d: Any) -> StatsSchema:
    return StatsSchema(
        commit=d['commit'],
        edge_types=[read_StatsSchemaEdgeType(x) for x in d['edge_types'] or ()],
        edges=d['edges'],
        more_edge_types=d['more_edge_types'],
        more_node_types=d['more_node_types'],
        more_properties=d['more_properties'],
        node_types=[read_StatsEdgeType(x) for x in d['node_types'] or ()],
        nodes=d['nodes'],
        properties=[read_StatsSchemaProperty(x) for x in d['properties'] or ()],
        untold=d['untold'],
    )


def read_StatsAnswer_forms(d: Any) -> StatsAnswer | StatsSchema:
    if has(d, ('agents', 'commit', 'edge_types', 'edges', 'embeddings', 'graph', 'index', 'marks', 'node_types', 'nodes', 'store')):
        return read_StatsAnswer(d)
    if has(d, ('commit', 'edge_types', 'edges', 'more_edge_types', 'more_node_types', 'more_properties', 'node_types', 'nodes', 'properties', 'untold')):
        return read_StatsSchema(d)
    return read_StatsAnswer(d)


@dataclass(kw_only=True, eq=False, repr=False)
class StatusFollowing(Answer):
    branch: str | None
    doing: str | None
    exists: bool
    from_: str | None
    git: str | None
    read_only: str | None
    work: str


def read_StatusFollowing(d: Any) -> StatusFollowing:
    return StatusFollowing(
        branch=d['branch'],
        doing=d['doing'],
        exists=d['exists'],
        from_=d['from'],
        git=d['git'],
        read_only=d['read_only'],
        work=d['work'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class StatusMerge(Answer):
    conflicts: int
    open: int
    theirs: str | None
    verb: str


def read_StatusMerge(d: Any) -> StatusMerge:
    return StatusMerge(
        conflicts=d['conflicts'],
        open=d['open'],
        theirs=d['theirs'],
        verb=d['verb'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class StatusSynced(Answer):
    failed: str | None
    remote: str
    tried: str | None
    worked: str | None


def read_StatusSynced(d: Any) -> StatusSynced:
    return StatusSynced(
        failed=d['failed'],
        remote=d['remote'],
        tried=d['tried'],
        worked=d['worked'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class StatusAnswer(Answer):
    base: str | None
    branch: str | None
    changes: list[Change]
    edges: Counts
    head: str | None
    kept: list[Kept]
    nodes: Counts
    stage: str
    staged: bool
    client: str | None = None
    following: StatusFollowing | None = None
    merge: StatusMerge | None = None
    synced: list[StatusSynced] = field(default_factory=list)


def read_StatusAnswer(d: Any) -> StatusAnswer:
    return StatusAnswer(
        base=d['base'],
        branch=d['branch'],
        changes=[read_Change(x) for x in d['changes'] or ()],
        edges=read_Counts(d['edges']),
        head=d['head'],
        kept=[read_Kept(x) for x in d['kept'] or ()],
        nodes=read_Counts(d['nodes']),
        stage=d['stage'],
        staged=d['staged'],
        client=d.get('client'),
        following=read_StatusFollowing(v) if (v := d.get('following')) is not None else None,
        merge=read_StatusMerge(v) if (v := d.get('merge')) is not None else None,
        synced=[read_StatusSynced(x) for x in d.get('synced') or ()],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SwitchAnswer(Answer):
    branch: str | None
    commit: str | None


def read_SwitchAnswer(d: Any) -> SwitchAnswer:
    return SwitchAnswer(
        branch=d['branch'],
        commit=d['commit'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class TagAnswer(Answer):
    commit: str
    current: bool
    message: str | None
    name: str
    tag: str | None
    tagger: str | None
    time: str | None


def read_TagAnswer(d: Any) -> TagAnswer:
    return TagAnswer(
        commit=d['commit'],
        current=d['current'],
        message=d['message'],
        name=d['name'],
        tag=d['tag'],
        tagger=d['tagger'],
        time=d['time'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class TagRemoved(Answer):
    commit: str
    removed: str


def read_TagRemoved(d: Any) -> TagRemoved:
    return TagRemoved(
        commit=d['commit'],
        removed=d['removed'],
    )


def read_TagAnswer_forms(d: Any) -> TagAnswer | TagRemoved:
    if has(d, ('commit', 'current', 'message', 'name', 'tag', 'tagger', 'time')):
        return read_TagAnswer(d)
    if has(d, ('commit', 'removed')):
        return read_TagRemoved(d)
    return read_TagAnswer(d)


@dataclass(kw_only=True, eq=False, repr=False)
class UndoAnswer(Answer):
    command: list[str]
    did: str
    of: OperationName
    op: str | None
    pushed: list[Pushed]
    refs: list[RefMove]
    skipped: list[Skipped]
    skipped_all: int


def read_UndoAnswer(d: Any) -> UndoAnswer:
    return UndoAnswer(
        command=d['command'] or [],
        did=d['did'],
        of=read_OperationName(d['of']),
        op=d['op'],
        pushed=[read_Pushed(x) for x in d['pushed'] or ()],
        refs=[read_RefMove(x) for x in d['refs'] or ()],
        skipped=[read_Skipped(x) for x in d['skipped'] or ()],
        skipped_all=d['skipped_all'],
    )


@dataclass(kw_only=True, eq=False, repr=False)
class VersionAnswer(Answer):
    analyser: int
    format: int
    go: str
    platform: str
    ranking: int
    version: str
    revision: str | None = None


def read_VersionAnswer(d: Any) -> VersionAnswer:
    return VersionAnswer(
        analyser=d['analyser'],
        format=d['format'],
        go=d['go'],
        platform=d['platform'],
        ranking=d['ranking'],
        version=d['version'],
        revision=d.get('revision'),
    )


# By the name of the verb: what reads an answer, and whether there is a list of them.
READERS: dict[str, tuple[Callable[[Any], Any], bool]] = {
    'add': (read_AddAnswer, False),
    'blame': (read_BlameAnswer, False),
    'branch': (read_BranchAnswer_forms, True),
    'cherry_pick': (read_CherryPickAnswer, False),
    'commit': (read_CommitAnswer, False),
    'config_half_life': (read_ConfigHalfLifeAnswer, False),
    'config_profile': (read_ConfigProfileAnswer_forms, True),
    'consolidate': (read_ConsolidateAnswer_forms, False),
    'diff': (read_DiffAnswer_forms, False),
    'embed': (read_EmbedAnswer, False),
    'embed_cues': (read_EmbedCuesAnswer_forms, False),
    'explore': (read_ExploreAnswer, False),
    'forget': (read_ForgetAnswer, False),
    'fsck': (read_FsckAnswer, False),
    'gc': (read_GcAnswer, False),
    'key_verify': (read_KeyVerifyAnswer, True),
    'log': (read_LogAnswer, True),
    'ls': (read_LsAnswer_forms, False),
    'map': (read_MapAnswer, False),
    'mark': (read_MarkAnswer, False),
    'merge': (read_MergeAnswer_forms, False),
    'op_log': (read_OpLogAnswer, True),
    'op_restore': (read_OpRestoreAnswer, False),
    'op_show': (read_OpShowAnswer, False),
    'pack_redact': (read_PackRedactAnswer, False),
    'pack_redactions': (read_PackRedactionsAnswer, False),
    'pack_refs': (read_PackRefsAnswer, False),
    'pin': (read_PinAnswer, False),
    'purge': (read_PurgeAnswer, False),
    'recall': (read_RecallAnswer, False),
    'recall_batch': (read_RecallBatchAnswer, True),
    'remember': (read_RememberAnswer, False),
    'remember_batch': (read_RememberBatchAnswer, True),
    'remote_redactions': (read_RemoteRedactionsAnswer_forms, False),
    'reset': (read_ResetAnswer, False),
    'restore': (read_RestoreAnswer_forms, False),
    'retrieve': (read_RetrieveAnswer, False),
    'retrieve_batch': (read_RetrieveBatchAnswer, True),
    'revert': (read_RevertAnswer, False),
    'review': (read_ReviewAnswer, False),
    'rm': (read_RmAnswer, False),
    'session_advance': (read_SessionAdvanceAnswer, False),
    'session_end': (read_SessionEndAnswer, False),
    'session_list': (read_SessionListAnswer, True),
    'session_log': (read_SessionLogAnswer, True),
    'session_replay': (read_SessionReplayAnswer, False),
    'session_rm': (read_SessionRmAnswer, False),
    'session_start': (read_SessionStartAnswer, False),
    'show': (read_ShowAnswer_forms, False),
    'stats': (read_StatsAnswer_forms, False),
    'status': (read_StatusAnswer, False),
    'switch': (read_SwitchAnswer, False),
    'tag': (read_TagAnswer_forms, True),
    'undo': (read_UndoAnswer, False),
    'version': (read_VersionAnswer, False),
}


class Verbs:
    """A method for each verb."""

    def _verb(self, name: str, arguments: dict[str, Any]) -> Any:
        raise NotImplementedError

    def add(
        self,
        *,
        lines: Sequence[Mapping[str, Any]],
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        expect: str | None = None,
        stage: str | None = None,
        strict: bool | None = None,
        time: str | None = None,
    ) -> AddAnswer:
        """Apply change lines to a stage, to be committed later. Several files are one batch, "-" is
        standard input, and all is staged or nothing. A stage may hold edges whose ends do not exist
        yet. See 'mnem help changes' for the form of change lines.

        lines: change lines, in order: objects with one member node, edge, embedding or remove
        allow_secret: write what RULE of 'mnem config secrets' takes for a credential
        branch: the branch that an empty stage builds on
        expect: the CID of the commit that HEAD must be at, or "none" before the first; else exit code 5
        stage: the stage to use
        strict: refuse credentials in more than 1000 changes too, where they are only reported
        time: time of the change, RFC 3339
        """
        answer: AddAnswer = self._verb('add', locals())
        return answer

    def blame(
        self,
        node: str,
        *,
        at: str | None = None,
        field: Sequence[str] | None = None,
    ) -> BlameAnswer:
        """For each field and property of a node at --at, and for its mark, print the commit that last set
        it, with author, agent and time. A merge counts as setting a value only if none of its parents
        has it. 'mnem log NODE' lists every commit that touched the node.

        node: a node by key, id, at least 4 digits of an id, or exact title
        at: the REVision to read; see 'mnem help revisions'
        field: print this FIELD alone, as summary or props.NAME
        """
        answer: BlameAnswer = self._verb('blame', locals())
        return answer

    def branch(
        self,
        name: str | None = None,
        rev: str | None = None,
        *,
        delete: bool | None = None,
        expect: str | None = None,
        force: bool | None = None,
        move: bool | None = None,
        time: str | None = None,
    ) -> list[BranchAnswer | BranchRemoved]:
        """Without a name, list the branches; * marks the one HEAD is on. With a name, create a branch at a
        revision, by default at HEAD; HEAD does not move (see 'mnem switch'). -m renames a branch, by
        default the current one, together with what is staged for it. -d removes a branch whose commits
        another branch or a tag also reaches. --force moves an existing branch, and removes one whose
        commits nothing else reaches; 'mnem undo' brings it back.

        name: the branch; none to list them
        rev: where a new branch begins; with move the new name
        delete: remove a branch
        expect: the CID of the commit that the name must be at, or "none" where it must not exist; else
            exit code 5
        force: move a branch that exists, remove one that is not merged
        move: rename a branch
        time: time of the change, RFC 3339
        """
        answer: list[BranchAnswer | BranchRemoved] = self._verb('branch', locals())
        return answer

    def cherry_pick(
        self,
        rev: str,
        *,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        conflicts: Literal["stop", "newest", "ours", "theirs"] | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        message: str | None = None,
        time: str | None = None,
    ) -> CherryPickAnswer:
        """Apply what a commit changed against its first parent, or all commits after FROM up to TO, to the
        branch, as one new commit with the message of the last one. If the branch made different
        changes, that is a conflict, as in 'mnem merge', which also lists, resolves and continues.

        rev: the commit, branch or range A..B
        allow_secret: write what RULE of 'mnem config secrets' takes for a credential
        branch: the branch to write to
        conflicts: what to do if both sides changed one thing: RULE is stop, newest, ours, theirs
        dry_run: say what would happen and write nothing
        expect: the CID of the commit that the branch must be at; else exit code 5
        message: what the commit is about; default: what was done
        time: time of the change, RFC 3339
        """
        answer: CherryPickAnswer = self._verb('cherry_pick', locals())
        return answer

    def commit(
        self,
        *,
        allow_secret: Sequence[str] | None = None,
        amend: bool | None = None,
        branch: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        expect_node: Sequence[str] | None = None,
        from_: str | None = None,
        lines: Sequence[Mapping[str, Any]] | None = None,
        message: str | None = None,
        stage: str | None = None,
        strict: bool | None = None,
        time: str | None = None,
    ) -> CommitAnswer:
        """Apply change lines to the newest commit of a branch and make a commit of the result. Several
        files are one batch, "-" is standard input, and all is applied or nothing: an error names the
        file and line. Without files, commit what is staged. If the stage began at an older commit, or
        with --from, the changes are merged onto the newest commit; different changes of one thing are a
        conflict, exit code 5, and the changes are kept under a ref to be merged. If nothing changes, no
        commit is made, and that is no error.

        allow_secret: write what RULE of 'mnem config secrets' takes for a credential
        amend: replace the newest commit; without -m its message stays
        branch: the branch to write to
        dry_run: print what would change and write nothing
        expect: the CID of the commit that the branch must be at, or "none" for a branch without one;
            else exit code 5
        expect_node: the version that a node must have, NODE=CID, as 'mnem show' prints it, or
            NODE=none; else exit code 5
        from_: the REV that the changes were made against
        lines: change lines, in order: objects with one member node, edge, embedding or remove
        message: what the commit is about; required
        stage: the stage to use
        strict: refuse credentials in more than 1000 changes too, where they are only reported
        time: time of the change, RFC 3339
        """
        answer: CommitAnswer = self._verb('commit', locals())
        return answer

    def config_half_life(
        self,
        half_lives: Sequence[str] | None = None,
        *,
        at: str | None = None,
        branch: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        message: str | None = None,
        remove: bool | None = None,
        time: str | None = None,
    ) -> ConfigHalfLifeAnswer:
        """List after how many days a memory of each type counts half in its effective importance, which
        'mnem show NODE --importance' shows, and which decides what 'mnem consolidate' proposes. A type
        that is not listed has what * has, which cannot be changed: give it one of its own.

        half_lives: TYPE=DAYS or TYPE=default, to change those of these types
        at: the REVision to read; see 'mnem help revisions'
        branch: the branch to write to
        dry_run: print what would be and write nothing
        expect: the CID of the commit that the branch must be at, or "none" for a branch without one;
            else exit code 5
        message: what the commit is about; default: what was done
        remove: go back to the built-in half-lives of all types
        time: time of the change, RFC 3339
        """
        answer: ConfigHalfLifeAnswer = self._verb('config_half_life', locals())
        return answer

    def config_profile(
        self,
        name: str | None = None,
        *,
        adjacency: int | None = None,
        altitude: Literal["entity", "scope", "root", "auto"] | None = None,
        at: str | None = None,
        branch: str | None = None,
        budget: int | None = None,
        community: bool | None = None,
        damping: float | None = None,
        decay: float | None = None,
        dedup: bool | None = None,
        default: bool | None = None,
        direction: Literal["out", "in", "both"] | None = None,
        edge_weight: Sequence[str] | None = None,
        expand: int | None = None,
        expand_type: Sequence[str] | None = None,
        expansion: Literal["lend", "decay", "ppr"] | None = None,
        expect: str | None = None,
        floor: Literal["answer", "maybe", "rest"] | None = None,
        from_: str | None = None,
        fusion: Literal["convex", "rrf", "weighted-rrf", "score-norm"] | None = None,
        limit: int | None = None,
        max_expand: int | None = None,
        message: str | None = None,
        order: Literal["rank", "time"] | None = None,
        pack: Literal["auto", "whole", "passages"] | None = None,
        passage_tokens: int | None = None,
        remove: bool | None = None,
        show: Sequence[Literal["times", "key", "content"]] | None = None,
        spelling: Literal["on", "off"] | None = None,
        summary_cap: int | None = None,
        time: str | None = None,
        tokenizer: Literal["estimate"] | None = None,
        type: Sequence[str] | None = None,
        unset: Sequence[str] | None = None,
        weight: Sequence[str] | None = None,
    ) -> list[ConfigProfileAnswer | ProfilesChange]:
        """A profile is a name for how answers are ranked, expanded, packed and printed: parameters of
        'mnem retrieve' with their values. Without NAME list the profiles, * before the default; with
        NAME print what it sets. The memory keeps its profiles with its facts, in every commit: they are
        branched, merged, reverted and exported with it.

        name: the name of a profile, none for all
        adjacency: print N edges of each item in each direction
        altitude: print digests of scopes in place of items that do not fit: HOW is entity (never),
            scope, root (that of the whole first) or auto (as scope where the query asks broadly)
        at: the REVision to read; see 'mnem help revisions'
        branch: the branch to write to
        budget: at most N tokens; 0 for no budget
        community: raise and add members of the communities that the best nodes are in
        damping: with expansion=ppr: the SHARE that moves on, between 0 and 1
        decay: with expansion=decay: the SHARE that each hop keeps, above 0 to 1
        dedup: leave out what repeats an item before it
        default: make it the profile of requests that name none and whose types match none
        direction: expand along edges out, in or both
        edge_weight: lend so much over edges of a type: TYPE=W, W 0 to 16, 1 for others
        expand: expand in N rounds, 0 for none, at most 4; with ppr 20 rounds, at most 64
        expand_type: expand along edges of this TYPE only
        expansion: how nodes raise those linked to them: WAY is lend, decay or ppr
        expect: the CID of the commit that the branch must be at, or "none" for a branch without one;
            else exit code 5
        floor: print items down to this BAND: answer, maybe or rest
        from_: put the profile, or all and the default, back as at REV
        fusion: how text and vectors become one list: WAY is convex, rrf, weighted-rrf or score-norm
        limit: at most N items; 0 for no limit
        max_expand: at most N nodes join that only expansion finds
        message: what the change is about
        order: print items by rank or by time (oldest first)
        pack: print TEXTS whole, or the passages of summary and content that fit the query best; auto:
            whole while the budget lasts, passages of chunks that do not fit
        passage_tokens: with pack=passages or auto: at most N tokens of each text
        remove: remove the profile of the repository; a built-in one of the same name holds again
        show: print these LINES too: times, key, content
        spelling: read words that no node has as the closest that some have: on or off
        summary_cap: cut each text at N characters; 0 for whole
        time: time of the change, RFC 3339
        tokenizer: count tokens by NAME: estimate, or a counter of the program that has the repository
            open
        type: choose the profile for requests of this TYPE
        unset: take the PARAMETER out, or type for its types
        weight: count a lane so much: LANE=W, LANE text, text:N, time, dense:MODEL or sparse:MODEL, W 0
            to 16
        """
        answer: list[ConfigProfileAnswer | ProfilesChange] = self._verb('config_profile', locals())
        return answer

    def consolidate(
        self,
        picks: Sequence[str] | None = None,
        *,
        accept: bool | None = None,
        allow_secret: Sequence[str] | None = None,
        at: str | None = None,
        branch: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        keep: int | None = None,
        kind: Sequence[str] | None = None,
        limit: int | None = None,
        message: str | None = None,
        now: str | None = None,
        reason: str | None = None,
        reject: bool | None = None,
        time: str | None = None,
    ) -> ConsolidateAnswer | ConsolidateDone:
        """Look for possible clean-ups and list each with its evidence. Nothing is written without
        --accept, which applies all except updates, or those with the given ids, in one commit that
        'mnem undo' takes back.

        picks: ids of proposals
        accept: do what is proposed, all or these ids
        allow_secret: write what RULE of 'mnem config secrets' takes for a credential
        at: the REVision to read; see 'mnem help revisions'
        branch: the branch to write to
        dry_run: print what would change and write nothing
        expect: the CID of the commit that the branch must be at; else exit code 5
        keep: from more than N memories, retire the least important; 0 for no limit
        kind: only these KINDS
        limit: print at most N proposals; 0 for all
        message: what the commit is about; default: what was done
        now: TIME that counts as now, RFC 3339 or YYYY-MM-DD (default: the time of the change)
        reason: why, TEXT: it is kept with the mark
        reject: do not propose these ids again
        time: time of the change, RFC 3339
        """
        answer: ConsolidateAnswer | ConsolidateDone = self._verb('consolidate', locals())
        return answer

    @overload
    def diff(
        self,
        a: str | None = None,
        b: str | None = None,
        *,
        stage: str | None = None,
        staged: bool | None = None,
        type: Sequence[str] | None = None,
    ) -> DiffAnswer: ...

    @overload
    def diff(
        self,
        a: str | None = None,
        b: str | None = None,
        *,
        stage: str | None = None,
        staged: bool | None = None,
        stat: bool | None = None,
        type: Sequence[str] | None = None,
    ) -> DiffAnswer | DiffStat: ...

    def diff(
        self,
        a: str | None = None,
        b: str | None = None,
        *,
        stage: str | None = None,
        staged: bool | None = None,
        stat: bool | None = None,
        type: Sequence[str] | None = None,
    ) -> DiffAnswer | DiffStat:
        """Show the nodes and edges that were added (+), changed (~) or removed (-), with their fields and
        properties.

        a: a branch, tag, CID or any other revision, or a range A..B
        b: a branch, tag, CID or any other revision
        stage: the stage to use
        staged: show what is staged
        stat: numbers for each type instead of items
        type: only nodes and edges of this TYPE
        """
        answer: DiffAnswer | DiffStat = self._verb('diff', locals())
        return answer

    def embed(
        self,
        *,
        all: bool | None = None,
        branch: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        limit: int | None = None,
        message: str | None = None,
        stale: bool | None = None,
        time: str | None = None,
        type: Sequence[str] | None = None,
    ) -> EmbedAnswer:
        """Give the nodes of a branch's newest commit embeddings by a model, and commit these. A node's
        text is its context, summary, content, cues and properties that are strings. Nodes that have an
        embedding of the model are left alone, unless --stale adds those whose text has changed since,
        or --all takes all.

        all: embed all nodes again
        branch: the branch to write to
        dry_run: print how many nodes have embeddings, how many would be embedded, and whether a process
            makes these; make none
        expect: the CID of the commit that the branch must be at; else exit code 5
        limit: make at most N embeddings; 0 for no limit
        message: what the commit is about (default: "embed with MODEL")
        stale: embed nodes too whose text has changed since
        time: time of the change, RFC 3339
        type: only nodes of this TYPE
        """
        answer: EmbedAnswer = self._verb('embed', locals())
        return answer

    def embed_cues(
        self,
        *,
        after: str | None = None,
        at: str | None = None,
        limit: int | None = None,
        missing: bool | None = None,
        type: Sequence[str] | None = None,
    ) -> EmbedCuesAnswer | CuesWritten:
        """List the memories that have cues: phrases that somebody may look for and that the memory does
        not contain. With --missing list those that have none. Change lines write them, many in one
        commit: {"node": {"id": ID, "cues": ["…", …]}}, 12 at most for each.

        after: go on after this CURSOR or id
        at: the REVision to read; see 'mnem help revisions'
        limit: at most N memories; 0 for all
        missing: list the memories that have none
        type: only memories of this TYPE
        """
        answer: EmbedCuesAnswer | CuesWritten = self._verb('embed_cues', locals())
        return answer

    def explore(
        self,
        topic: str | None = None,
        *,
        adjacency: int | None = None,
        at: str | None = None,
        communities: bool | None = None,
        depth: int | None = None,
        edge: Sequence[str] | None = None,
        in_: bool | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        limit: int | None = None,
        out: bool | None = None,
        tags: bool | None = None,
        to: str | None = None,
        type: Sequence[str] | None = None,
    ) -> ExploreAnswer:
        """List what surrounds a node, best first, each neighbour with its reason: an edge, a mention of a
        title, shared entities and tags, or shared words. With --depth, --in, --out or --edge only edges
        count. For words that name no node, the search starts at the nodes that match them.

        topic: a node by key, id, at least 8 digits of an id, or exact title; or words to look for
        adjacency: list N edges of each node in each direction too
        at: the REVision to read; see 'mnem help revisions'
        communities: list groups of densely connected nodes, or the members of the one of a node
        depth: follow up to N edges in a row (default: 3 from words, 32 with --to)
        edge: follow only edges of this TYPE
        in_: follow edges against their direction only
        include: show nodes and edges in these hidden STATES too: forgotten, superseded, expired,
            retired
        limit: at most N nodes, or communities; 0 for all
        out: follow edges in their direction only
        tags: suggest tags for the text
        to: find a shortest path to this NODE
        type: only nodes of this TYPE, on the way too
        """
        answer: ExploreAnswer = self._verb('explore', locals())
        return answer

    def forget(
        self,
        nodes: Sequence[str] | None = None,
        *,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        confirm: int | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        message: str | None = None,
        reason: str | None = None,
        time: str | None = None,
        type: Sequence[str] | None = None,
        until: str | None = None,
        where: Sequence[str] | None = None,
    ) -> ForgetAnswer:
        """Mark nodes as forgotten, in one commit. No retrieval on the branch finds or shows a forgotten
        node. Commands that read show it with --include forgotten, and older commits are unchanged.
        'mnem restore NODE' and 'mnem undo' bring it back. 'mnem purge' erases the text itself from
        every commit, for good.

        nodes: nodes, each by key, id, at least 4 digits of an id, or exact title
        allow_secret: write what RULE of 'mnem config secrets' takes for a credential
        branch: the branch to write to
        confirm: forget only if exactly N nodes match the filters
        dry_run: print what would change and write nothing
        expect: the CID of the commit that the branch must be at; else exit code 5
        message: what the commit is about; default: what was done
        reason: why, TEXT: it is kept with the mark
        time: time of the change, RFC 3339
        type: only this TYPE
        until: only what was created before this TIME, RFC 3339 or YYYY-MM-DD
        where: only where this PREDICATE holds
        """
        answer: ForgetAnswer = self._verb('forget', locals())
        return answer

    def fsck(
        self,
        *,
        full: bool | None = None,
        rebuild: bool | None = None,
    ) -> FsckAnswer:
        """Check the hash and form of every block, the chain of operations, all refs, commits, sessions and
        trees, and that adjacency and index match the graph; name each bad block. Nothing is changed.
        Damage gives exit code 4.

        full: check the trees and indexes of every commit from end to end, not only of those that refs
            name
        rebuild: first rebuild the index of the newest commit from its facts alone: answers do not
            change
        """
        answer: FsckAnswer = self._verb('fsck', locals())
        return answer

    def gc(
        self,
        *,
        dry_run: bool | None = None,
        grace: str | None = None,
        keep: int | None = None,
        time: str | None = None,
    ) -> GcAnswer:
        """Remove what no ref reaches, neither now nor in a kept operation: the newest --keep ones, those
        of the last --grace, and the one before these, so that everything that existed within --grace
        can be brought back. Older operations leave the operation log and can be neither undone nor
        restored. Commits, tags, sessions, stages and merges in progress that a ref reaches stay, with
        all they need. If anything is damaged nothing is removed.

        dry_run: count what would be removed and remove nothing
        grace: keep operations that are not older than this
        keep: how many of the newest operations to keep
        time: time of the change, RFC 3339
        """
        answer: GcAnswer = self._verb('gc', locals())
        return answer

    def key_verify(
        self,
        rev: str | None = None,
        *,
        all: bool | None = None,
        limit: int | None = None,
        strict: bool | None = None,
    ) -> list[KeyVerifyAnswer]:
        """Check the signature of every commit that a revision reaches, of those that A..B has beyond A, or
        with --all of every branch and tag, newest first. A commit is one of:

        rev: a branch, tag, CID or any other revision, or a range A..B
        all: every branch and tag
        limit: at most N commits; 0 for all
        strict: exit code 4 unless every commit is signed
        """
        answer: list[KeyVerifyAnswer] = self._verb('key_verify', locals())
        return answer

    def log(
        self,
        node: str | None = None,
        *,
        agent: Sequence[str] | None = None,
        at: str | None = None,
        author: Sequence[str] | None = None,
        grep: str | None = None,
        limit: int | None = None,
        oneline: bool | None = None,
        signatures: bool | None = None,
        since: str | None = None,
        stat: bool | None = None,
        type: Sequence[str] | None = None,
        until: str | None = None,
    ) -> list[LogAnswer]:
        """List the commits that a revision reaches, newest first, with the numbers of nodes and edges that
        each added (+), changed (~) and removed (-). A range A..B leaves out what A reaches. With a
        NODE, list those that touched it: the node, its mark, an edge of it or the mark of one. A merge
        touches what differs from all its parents. A name that is both a revision and a node is the
        revision; 'mnem log -- NODE' and key:NAME always mean the node.

        node: a node by key, id, at least 4 digits of an id, or exact title
        agent: commits by this agent
        at: the REVision to read; see 'mnem help revisions'
        author: commits by this author
        grep: commits whose message matches this regular EXPRESSION
        limit: at most N commits; 0 for all
        oneline: one line a commit
        signatures: print what signatures are worth, as 'mnem key verify' does
        since: commits at or after this TIME: RFC 3339 or YYYY-MM-DD
        stat: count what each commit changed by type
        type: commits that changed a node or edge of this TYPE (repeatable: any of them)
        until: commits before this TIME, likewise
        """
        answer: list[LogAnswer] = self._verb('log', locals())
        return answer

    @overload
    def ls(
        self,
        *,
        after: str | None = None,
        all: bool | None = None,
        at: str | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        limit: int | None = None,
        now: str | None = None,
        sort: str | None = None,
        sources: bool | None = None,
        type: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
    ) -> LsAnswer: ...

    @overload
    def ls(
        self,
        *,
        after: str | None = None,
        all: bool | None = None,
        at: str | None = None,
        edges: bool | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        limit: int | None = None,
        now: str | None = None,
        sort: str | None = None,
        sources: bool | None = None,
        type: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
    ) -> LsAnswer | LsEdges: ...

    def ls(
        self,
        *,
        after: str | None = None,
        all: bool | None = None,
        at: str | None = None,
        edges: bool | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        limit: int | None = None,
        now: str | None = None,
        sort: str | None = None,
        sources: bool | None = None,
        type: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
    ) -> LsAnswer | LsEdges:
        """List the memories, or with --edges the edges, that pass the filters. Files, their parts,
        conversations and mere names are listed with --all, or with --type if it names them.

        after: go on after this CURSOR or id
        all: list nodes of every type, also documents, their parts, conversations and names
        at: the REVision to read; see 'mnem help revisions'
        edges: list edges
        include: show nodes and edges in these hidden STATES too: forgotten, superseded, expired,
            retired
        limit: at most N rows; 0 for all
        now: TIME that importance is of, RFC 3339 or YYYY-MM-DD (default: now)
        sort: ORDER: id, key, created, updated, importance or props.NAME (default: -created; of edges
            id)
        sources: list nodes that have a source, with their sources
        type: only this TYPE
        where: only where this PREDICATE holds
        """
        answer: LsAnswer | LsEdges = self._verb('ls', locals())
        return answer

    def map(
        self,
        scope: str | None = None,
        *,
        allow_secret: Sequence[str] | None = None,
        at: str | None = None,
        branch: str | None = None,
        budget: int | None = None,
        by: Sequence[str] | None = None,
        depth: int | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        message: str | None = None,
        rebuild: bool | None = None,
        resolve: str | None = None,
        since: str | None = None,
        text: str | None = None,
        time: str | None = None,
        write: str | None = None,
    ) -> MapAnswer:
        """Print a table of contents of a memory. A small memory is its facts, the newest first;
        conversations are listed with what was decided in them, ingested projects with their folders and
        what these are for, other scopes and clusters with the number of memories in them and what they
        are about.

        scope: root, a scope, a cluster or a memory, as the map names it: it is printed with its digest
            (default: the whole memory without)
        allow_secret: write what RULE of 'mnem config secrets' takes for a credential
        at: the REVision to read; see 'mnem help revisions'
        branch: the branch to write to
        budget: print at most N tokens; 0 for the highest limit
        by: what makes a scope: edge:TYPE, prop:NAME, type or community
        depth: show N levels below, 1 to 8
        dry_run: print what would change and write nothing
        expect: the CID of the commit that the branch must be at; else exit code 5
        message: what the commit is about; default: what was done
        rebuild: make the digests, and keep them
        resolve: find what has this HASH: a source of 64 hex digits, or nearly this sem of 16
        since: show only what differs from REV
        text: with write: the text
        time: time of the change, RFC 3339
        write: replace the sentences of a digest, named by its source HASH or as in the map, with a text
        """
        answer: MapAnswer = self._verb('map', locals())
        return answer

    def mark(
        self,
        *,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        by: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        kind: str | None = None,
        message: str | None = None,
        nodes: Sequence[str] | None = None,
        now: str | None = None,
        reason: str | None = None,
        remove: bool | None = None,
        time: str | None = None,
    ) -> MarkAnswer:
        """Mark nodes, in one commit. A marked node keeps its text, properties and edges; --remove takes
        the marks of nodes off again, of two that contradict each other both.

        allow_secret: write what RULE of 'mnem config secrets' takes for a credential
        branch: the branch to write to
        by: the NODE that supersedes, contradicts or differs from them
        dry_run: print what would change and write nothing
        expect: the CID of the commit that the branch must be at; else exit code 5
        kind: stale, contradicted, superseded, different, retired, expired or forgotten; none with
            remove
        message: what the commit is about; default: what was done
        nodes: nodes, each by key, id, at least 4 digits of an id, or exact title; of expired without
            any, those whose time has passed
        now: TIME that counts as now for expired, RFC 3339 or YYYY-MM-DD (default: the time of the
            change)
        reason: why, TEXT: it is kept with the mark
        remove: take the marks of nodes off, whatever they say
        time: time of the change, RFC 3339
        """
        answer: MarkAnswer = self._verb('mark', locals())
        return answer

    def merge(
        self,
        rev: str | None = None,
        *,
        abort: bool | None = None,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        conflicts: Literal["stop", "newest", "ours", "theirs"] | None = None,
        continue_: bool | None = None,
        drop: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        lines: Sequence[Mapping[str, Any]] | None = None,
        list: bool | None = None,
        message: str | None = None,
        no_ff: bool | None = None,
        require_signed: bool | None = None,
        resolve: str | None = None,
        take: Literal["ours", "theirs", "base"] | None = None,
        time: str | None = None,
    ) -> MergeAnswer | MergeState:
        """Merge a branch or any commit into the current branch, by field, property, edge and mark. A
        change made on one side since the common ancestor is taken, and so is the same change made on
        both sides. If the branch has no commits of its own, it moves forward. Different changes of one
        thing are a conflict, exit code 5: the merge waits, and the branch stays where it is, until
        every conflict is resolved and the merge is continued. --conflicts newest, ours or theirs
        decides all of them at once.

        rev: a branch, tag, CID or any other revision
        abort: forget the merge in progress
        allow_secret: write what RULE of 'mnem config secrets' takes for a credential
        branch: the branch to write to
        conflicts: what to do if both sides changed one thing: RULE is stop, newest, ours, theirs
        continue_: make the commit, all conflicts being resolved
        drop: forget what was kept under a REF
        dry_run: say what would happen and write nothing
        expect: the CID of the commit that the branch must be at; else exit code 5
        lines: with resolve: change lines that decide it, in place of take
        list: show the merge in progress, and what was kept
        message: what the commit is about; default: what was done
        no_ff: make a merge commit also where the branch could simply move
        require_signed: refuse commits that no key you trust has signed
        resolve: decide about one ITEM, with --take
        take: with resolve: ours, theirs or base
        time: time of the change, RFC 3339
        """
        answer: MergeAnswer | MergeState = self._verb('merge', locals())
        return answer

    def op_log(
        self,
        *,
        limit: int | None = None,
    ) -> list[OpLogAnswer]:
        """List operations, newest first: number, time, actor, command, and the refs that each moved. With
        --json, one object a line.

        limit: at most N operations; 0 for all
        """
        answer: list[OpLogAnswer] = self._verb('op_log', locals())
        return answer

    def op_restore(
        self,
        op: str,
        *,
        expect: str | None = None,
        time: str | None = None,
    ) -> OpRestoreAnswer:
        """Give HEAD, branches, tags, stages and merges in progress the values they had after an operation.
        This is an operation itself: 'mnem undo' takes it back. Sessions and remote-tracking refs stay
        as they are.

        op: an operation by number or CID
        expect: the CID of the commit that HEAD must be at, or "none" before the first; else exit code 5
        time: time of the change, RFC 3339
        """
        answer: OpRestoreAnswer = self._verb('op_restore', locals())
        return answer

    def op_show(
        self,
        op: str | None = None,
        *,
        since: str | None = None,
    ) -> OpShowAnswer:
        """Print one operation, by default the newest, with its CID and the refs that it moved. To see what
        it did to the memory, give 'mnem diff' the two commits of a branch. With --since, all refs that
        moved after an earlier operation.

        op: by number or CID
        since: list the refs that differ from how this OP left them
        """
        answer: OpShowAnswer = self._verb('op_show', locals())
        return answer

    def pack_redact(
        self,
        *,
        dry_run: bool | None = None,
        redactions: Sequence[str] | None = None,
        time: str | None = None,
        yes: bool | None = None,
    ) -> PackRedactAnswer:
        """Erase blocks as another repository did: their bytes are gone from the files here, and gaps stay
        gaps. Nothing is erased but nodes, edges, marks, embeddings and texts that branches, tags and
        sessions reach, and that are what the record says. This cannot be undone. Without --yes it says
        what it would erase and is refused.

        dry_run: say what would be erased and erase nothing
        redactions: erase the block of CID=RECORD, as 'mnem pack redactions' lists them
        time: time of the change, RFC 3339
        yes: really erase: there is no way back
        """
        answer: PackRedactAnswer = self._verb('pack_redact', locals())
        return answer

    def pack_redactions(
        self,
        *,
        after: str | None = None,
    ) -> PackRedactionsAnswer:
        """List the blocks that were erased here, each with its redaction record: at most 1000 at once, in
        the order of their CIDs. 'mnem pack redact' applies them to another repository.

        after: list only blocks whose CID comes after CID
        """
        answer: PackRedactionsAnswer = self._verb('pack_redactions', locals())
        return answer

    def pack_refs(
        self,
        *,
        have: Sequence[str] | None = None,
        sessions: bool | None = None,
        tracking: bool | None = None,
    ) -> PackRefsAnswer:
        """List what another repository can have of this one: branches, tags, with --sessions sessions, the
        branch that HEAD is on, and which of some commits are here. It is the first question of a fetch
        or a push.

        have: tell which of these commits and records of sessions the repository has: each a CID, at
            most 256
        sessions: tell of sessions too
        tracking: tell of the refs under refs/remotes too
        """
        answer: PackRefsAnswer = self._verb('pack_refs', locals())
        return answer

    def pin(
        self,
        nodes: Sequence[str],
        *,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        message: str | None = None,
        remove: bool | None = None,
        time: str | None = None,
    ) -> PinAnswer:
        """Pin nodes, in one commit: hooks give them to agents at the start of every session. A pinned node
        has the property pinned = true; --where 'pinned = true' finds it. --remove removes the property
        and changes nothing else.

        nodes: nodes, each by key, id, at least 4 digits of an id, or exact title
        allow_secret: write what RULE of 'mnem config secrets' takes for a credential
        branch: the branch to write to
        dry_run: print what would change and write nothing
        expect: the CID of the commit that the branch must be at; else exit code 5
        message: what the commit is about; default: what was done
        remove: unpin them
        time: time of the change, RFC 3339
        """
        answer: PinAnswer = self._verb('pin', locals())
        return answer

    def purge(
        self,
        node: str,
        *,
        dry_run: bool | None = None,
        expect: str | None = None,
        reason: str | None = None,
        time: str | None = None,
        yes: bool | None = None,
    ) -> PurgeAnswer:
        """Erase every version of a node in all commits, with its embeddings and content, and leave a
        redaction in place of each, with reason, time and author. The node is first removed from every
        branch and stage that has it; this is one operation, and it cannot be undone. Commits keep their
        CIDs, and older ones show the redaction. Commits and imports cannot bring back what was erased.
        Afterwards the store is compacted, so that no file of the repository holds the text. If the disk
        has no room for that, the answer says that the erasure is pending: opening the repository for
        writing, 'mnem gc' and the next purge continue it when there is room.

        node: a node by key, id, at least 4 digits of an id, or exact title
        dry_run: say what would be done and do nothing
        expect: the CID of the commit that HEAD must be at, or "none" before the first; else exit code 5
        reason: why; shown with the redaction
        time: time of the change, RFC 3339
        yes: really erase: there is no way back
        """
        answer: PurgeAnswer = self._verb('purge', locals())
        return answer

    def recall(
        self,
        query: str | None = None,
        *,
        adjacency: int | None = None,
        also: Sequence[str] | None = None,
        altitude: Literal["entity", "scope", "root", "auto"] | None = None,
        at: str | None = None,
        budget: int | None = None,
        community: bool | None = None,
        current: bool | None = None,
        damping: float | None = None,
        decay: float | None = None,
        dedup: bool | None = None,
        direction: Literal["out", "in", "both"] | None = None,
        edge_weight: Sequence[str] | None = None,
        embed: bool | None = None,
        exclude: Sequence[str] | None = None,
        expand: int | None = None,
        expand_type: Sequence[str] | None = None,
        expansion: Literal["lend", "decay", "ppr"] | None = None,
        explain: bool | None = None,
        floor: Literal["answer", "maybe", "rest"] | None = None,
        follow: bool | None = None,
        format: Literal["yaml", "brief"] | None = None,
        fusion: Literal["convex", "rrf", "weighted-rrf", "score-norm"] | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        intent: Literal["auto", "why", "when", "entity", "general"] | None = None,
        limit: int | None = None,
        max_expand: int | None = None,
        now: str | None = None,
        order: Literal["rank", "time"] | None = None,
        pack: Literal["auto", "whole", "passages"] | None = None,
        passage_tokens: int | None = None,
        profile: str | None = None,
        receipt: bool | None = None,
        rerank: bool | None = None,
        rerank_top: int | None = None,
        rewrite: bool | Literal["multi", "hyde"] | None = None,
        rewrites: int | None = None,
        session: str | None = None,
        show: Sequence[Literal["times", "key", "content"]] | None = None,
        since: str | None = None,
        spelling: Literal["on", "off"] | None = None,
        summary_cap: int | None = None,
        time: str | None = None,
        tokenizer: Literal["estimate"] | None = None,
        type: Sequence[str] | None = None,
        unseen: bool | None = None,
        until: str | None = None,
        updated_from: str | None = None,
        updated_to: str | None = None,
        valid_at: str | None = None,
        weight: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
        zone: str | None = None,
    ) -> RecallAnswer:
        """Find what answers a question as 'mnem retrieve' does, and rank it by the kind of answer that the
        question asks for. Its words tell the intent: why for a reason, when for a time, entity for who,
        what, which or where, and general for anything else, in English, Chinese, German, French,
        Spanish and seven more languages; --intent overrides them.

        query: the question or words to look for
        adjacency: print N edges of each item in each direction
        also: search for this TEXT too: the query in other words (repeatable, at most 8)
        altitude: print digests of scopes in place of items that do not fit: HOW is entity (never),
            scope, root (that of the whole first) or auto (as scope where the query asks broadly)
        at: the REVision to read; see 'mnem help revisions'
        budget: at most N tokens; 0 for no budget
        community: raise and add members of the communities that the best nodes are in
        current: leave out replaced memories
        damping: with expansion=ppr: the SHARE that moves on, between 0 and 1
        decay: with expansion=decay: the SHARE that each hop keeps, above 0 to 1
        dedup: leave out what repeats an item before it
        direction: expand along edges out, in or both
        edge_weight: lend so much over edges of a type: TYPE=W, W 0 to 16, 1 for others
        embed: use the embedding model of the configuration too
        exclude: leave out this NODE, by key or id
        expand: expand in N rounds, 0 for none, at most 4; with ppr 20 rounds, at most 64
        expand_type: expand along edges of this TYPE only
        expansion: how nodes raise those linked to them: WAY is lend, decay or ppr
        explain: tell how each item was found, and what did not fit
        floor: print items down to this BAND: answer, maybe or rest
        follow: with a session: answer from HEAD, not from its commit
        format: print items in this FORM: brief or yaml, which has full ids
        fusion: how text and vectors become one list: WAY is convex, rrf, weighted-rrf or score-norm
        include: show nodes and edges in these hidden STATES too: forgotten, superseded, expired,
            retired
        intent: what the query asks for: INTENT is auto, why, when, entity or general
        limit: at most N items; 0 for no limit
        max_expand: at most N nodes join that only expansion finds
        now: count dates like 'last week' in the query from the day of this TIME; default today
        order: print items by rank or by time (oldest first)
        pack: print TEXTS whole, or the passages of summary and content that fit the query best; auto:
            whole while the budget lasts, passages of chunks that do not fit
        passage_tokens: with pack=passages or auto: at most N tokens of each text
        profile: take what no flag says from this NAME; see 'mnem config profile --help'
        receipt: record the answer, without a session too
        rerank: judge the best items again by the model of the configuration
        rerank_top: judge N items; 1 to 200
        rewrite: let the model of the configuration put the query into other words: multi, or true, or
            hyde for a made-up answer
        rewrites: with rewrite=multi: N texts, 1 to 8
        session: answer in this session and record it
        show: print these LINES too: times, key, content
        since: created at this TIME or later
        spelling: read words that no node has as the closest that some have: on or off
        summary_cap: cut each text at N characters; 0 for whole
        time: time of the change, RFC 3339
        tokenizer: count tokens by NAME: estimate, or a counter of the program that has the repository
            open
        type: only nodes of this TYPE
        unseen: leave out what the session was shown before
        until: created before this TIME
        updated_from: updated (or else created) at this TIME or later
        updated_to: updated (or else created) before this TIME
        valid_at: valid at this TIME
        weight: count a lane so much: LANE=W, LANE text, text:N, time, dense:MODEL or sparse:MODEL, W 0
            to 16
        where: only where this PREDICATE holds
        zone: read dates in the query as days of this ZONE: a name like Europe/Berlin, or an offset like
            +02:00
        """
        answer: RecallAnswer = self._verb('recall', locals())
        return answer

    def recall_batch(
        self,
        *,
        lines: Sequence[Mapping[str, Any]],
        adjacency: int | None = None,
        also: Sequence[str] | None = None,
        altitude: Literal["entity", "scope", "root", "auto"] | None = None,
        at: str | None = None,
        budget: int | None = None,
        community: bool | None = None,
        current: bool | None = None,
        damping: float | None = None,
        decay: float | None = None,
        dedup: bool | None = None,
        direction: Literal["out", "in", "both"] | None = None,
        edge_weight: Sequence[str] | None = None,
        embed: bool | None = None,
        exclude: Sequence[str] | None = None,
        expand: int | None = None,
        expand_type: Sequence[str] | None = None,
        expansion: Literal["lend", "decay", "ppr"] | None = None,
        explain: bool | None = None,
        floor: Literal["answer", "maybe", "rest"] | None = None,
        follow: bool | None = None,
        format: Literal["yaml", "brief"] | None = None,
        fusion: Literal["convex", "rrf", "weighted-rrf", "score-norm"] | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        intent: Literal["auto", "why", "when", "entity", "general"] | None = None,
        limit: int | None = None,
        max_expand: int | None = None,
        now: str | None = None,
        order: Literal["rank", "time"] | None = None,
        pack: Literal["auto", "whole", "passages"] | None = None,
        passage_tokens: int | None = None,
        profile: str | None = None,
        receipt: bool | None = None,
        rerank: bool | None = None,
        rerank_top: int | None = None,
        rewrite: bool | Literal["multi", "hyde"] | None = None,
        rewrites: int | None = None,
        session: str | None = None,
        show: Sequence[Literal["times", "key", "content"]] | None = None,
        since: str | None = None,
        spelling: Literal["on", "off"] | None = None,
        summary_cap: int | None = None,
        time: str | None = None,
        tokenizer: Literal["estimate"] | None = None,
        type: Sequence[str] | None = None,
        unseen: bool | None = None,
        until: str | None = None,
        updated_from: str | None = None,
        updated_to: str | None = None,
        valid_at: str | None = None,
        weight: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
        zone: str | None = None,
    ) -> list[RecallBatchAnswer]:
        """Find what answers a question as 'mnem retrieve' does, and rank it by the kind of answer that the
        question asks for. Its words tell the intent: why for a reason, when for a time, entity for who,
        what, which or where, and general for anything else, in English, Chinese, German, French,
        Spanish and seven more languages; --intent overrides them.

        lines: requests: objects with text and any parameter of retrieve
        adjacency: print N edges of each item in each direction
        also: search for this TEXT too: the query in other words (repeatable, at most 8)
        altitude: print digests of scopes in place of items that do not fit: HOW is entity (never),
            scope, root (that of the whole first) or auto (as scope where the query asks broadly)
        at: the REVision to read; see 'mnem help revisions'
        budget: at most N tokens; 0 for no budget
        community: raise and add members of the communities that the best nodes are in
        current: leave out replaced memories
        damping: with expansion=ppr: the SHARE that moves on, between 0 and 1
        decay: with expansion=decay: the SHARE that each hop keeps, above 0 to 1
        dedup: leave out what repeats an item before it
        direction: expand along edges out, in or both
        edge_weight: lend so much over edges of a type: TYPE=W, W 0 to 16, 1 for others
        embed: use the embedding model of the configuration too
        exclude: leave out this NODE, by key or id
        expand: expand in N rounds, 0 for none, at most 4; with ppr 20 rounds, at most 64
        expand_type: expand along edges of this TYPE only
        expansion: how nodes raise those linked to them: WAY is lend, decay or ppr
        explain: tell how each item was found, and what did not fit
        floor: print items down to this BAND: answer, maybe or rest
        follow: with a session: answer from HEAD, not from its commit
        format: print items in this FORM: brief or yaml, which has full ids
        fusion: how text and vectors become one list: WAY is convex, rrf, weighted-rrf or score-norm
        include: show nodes and edges in these hidden STATES too: forgotten, superseded, expired,
            retired
        intent: what the query asks for: INTENT is auto, why, when, entity or general
        limit: at most N items; 0 for no limit
        max_expand: at most N nodes join that only expansion finds
        now: count dates like 'last week' in the query from the day of this TIME; default today
        order: print items by rank or by time (oldest first)
        pack: print TEXTS whole, or the passages of summary and content that fit the query best; auto:
            whole while the budget lasts, passages of chunks that do not fit
        passage_tokens: with pack=passages or auto: at most N tokens of each text
        profile: take what no flag says from this NAME; see 'mnem config profile --help'
        receipt: record the answer, without a session too
        rerank: judge the best items again by the model of the configuration
        rerank_top: judge N items; 1 to 200
        rewrite: let the model of the configuration put the query into other words: multi, or true, or
            hyde for a made-up answer
        rewrites: with rewrite=multi: N texts, 1 to 8
        session: answer in this session and record it
        show: print these LINES too: times, key, content
        since: created at this TIME or later
        spelling: read words that no node has as the closest that some have: on or off
        summary_cap: cut each text at N characters; 0 for whole
        time: time of the change, RFC 3339
        tokenizer: count tokens by NAME: estimate, or a counter of the program that has the repository
            open
        type: only nodes of this TYPE
        unseen: leave out what the session was shown before
        until: created before this TIME
        updated_from: updated (or else created) at this TIME or later
        updated_to: updated (or else created) before this TIME
        valid_at: valid at this TIME
        weight: count a lane so much: LANE=W, LANE text, text:N, time, dense:MODEL or sparse:MODEL, W 0
            to 16
        where: only where this PREDICATE holds
        zone: read dates in the query as days of this ZONE: a name like Europe/Berlin, or an offset like
            +02:00
        """
        answer: list[RecallBatchAnswer] = self._verb('recall_batch', locals())
        return answer

    def remember(
        self,
        text: str,
        *,
        about: str | None = None,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        cue: Sequence[str] | None = None,
        dry_run: bool | None = None,
        embed: bool | None = None,
        entity: Sequence[str] | None = None,
        expect: str | None = None,
        expires: str | None = None,
        explain: bool | None = None,
        importance: int | None = None,
        message: str | None = None,
        property: str | None = None,
        source: Sequence[str] | None = None,
        strict: bool | None = None,
        supersedes: Sequence[str] | None = None,
        tag: Sequence[str] | None = None,
        time: str | None = None,
        type: str | None = None,
        valid_from: str | None = None,
        valid_to: str | None = None,
        without: Sequence[Literal["diff", "temporal", "entity", "keyword", "causal", "semantic"]] | None = None,
    ) -> RememberAnswer:
        """Store a text as a memory: one fact, in words that can be understood alone. "-" reads it from
        standard input, --file from a file, each of several a memory. Everything is written in one
        commit.

        text: the memory
        about: KEY or id of the subject, or the name of an entity; where there is none a node of the key
            is made
        allow_secret: write what RULE of 'mnem config secrets' takes for a credential
        branch: the branch to write to
        cue: WORDS under which somebody may look for it, and which it does not have (repeatable, at most
            12)
        dry_run: print what would change and write nothing
        embed: use the embedding model of the configuration too
        entity: NAME that it is about (repeatable, at most 50)
        expect: the CID of the commit that the branch must be at, or "none" for a branch without one;
            else exit code 5
        expires: TIME from which it may be marked expired
        explain: print what each edge is for
        importance: N from 1 to 5 (default 3)
        message: what the commit is about; default: what was done
        property: NAME of the subject's property that it says, which has one value: an old one is
            superseded
        source: where it comes from: file:PATH, url:URL, conversation:ID, manual:WHO or any other TEXT
        strict: refuse credentials in more than 1000 changes too, where they are only reported
        supersedes: NODE that it takes the place of
        tag: TAG (repeatable, at most 20)
        time: time of the change, RFC 3339
        type: TYPE: fact, decision, preference, insight, context, event, task or any other (default
            fact)
        valid_from: TIME from which it holds
        valid_to: TIME until which it holds
        without: leave out these PARTS: diff, which looks for memories that resemble it, or the edges of
            a rule: temporal, entity, keyword, causal, semantic
        """
        answer: RememberAnswer = self._verb('remember', locals())
        return answer

    def remember_batch(
        self,
        *,
        lines: Sequence[Mapping[str, Any]],
        about: str | None = None,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        cue: Sequence[str] | None = None,
        dry_run: bool | None = None,
        embed: bool | None = None,
        entity: Sequence[str] | None = None,
        expect: str | None = None,
        expires: str | None = None,
        explain: bool | None = None,
        importance: int | None = None,
        message: str | None = None,
        property: str | None = None,
        source: Sequence[str] | None = None,
        strict: bool | None = None,
        supersedes: Sequence[str] | None = None,
        tag: Sequence[str] | None = None,
        time: str | None = None,
        type: str | None = None,
        valid_from: str | None = None,
        valid_to: str | None = None,
        without: Sequence[Literal["diff", "temporal", "entity", "keyword", "causal", "semantic"]] | None = None,
    ) -> list[RememberBatchAnswer]:
        """Store a text as a memory: one fact, in words that can be understood alone. "-" reads it from
        standard input, --file from a file, each of several a memory. Everything is written in one
        commit.

        lines: memories: objects with text and any parameter of remember
        about: KEY or id of the subject, or the name of an entity; where there is none a node of the key
            is made
        allow_secret: write what RULE of 'mnem config secrets' takes for a credential
        branch: the branch to write to
        cue: WORDS under which somebody may look for it, and which it does not have (repeatable, at most
            12)
        dry_run: print what would change and write nothing
        embed: use the embedding model of the configuration too
        entity: NAME that it is about (repeatable, at most 50)
        expect: the CID of the commit that the branch must be at, or "none" for a branch without one;
            else exit code 5
        expires: TIME from which it may be marked expired
        explain: print what each edge is for
        importance: N from 1 to 5 (default 3)
        message: what the commit is about; default: what was done
        property: NAME of the subject's property that it says, which has one value: an old one is
            superseded
        source: where it comes from: file:PATH, url:URL, conversation:ID, manual:WHO or any other TEXT
        strict: refuse credentials in more than 1000 changes too, where they are only reported
        supersedes: NODE that it takes the place of
        tag: TAG (repeatable, at most 20)
        time: time of the change, RFC 3339
        type: TYPE: fact, decision, preference, insight, context, event, task or any other (default
            fact)
        valid_from: TIME from which it holds
        valid_to: TIME until which it holds
        without: leave out these PARTS: diff, which looks for memories that resemble it, or the edges of
            a rule: temporal, entity, keyword, causal, semantic
        """
        answer: list[RememberBatchAnswer] = self._verb('remember_batch', locals())
        return answer

    def remote_redactions(
        self,
        name: str | None = None,
        cid: Sequence[str] | None = None,
        *,
        accept: bool | None = None,
        reject: bool | None = None,
        time: str | None = None,
    ) -> RemoteRedactionsAnswer | RedactionsClosed:
        """List what another repository, by default origin, says was purged there and is not purged here,
        as of the last fetch. It is in quarantine: nothing is erased here, and a block that comes from
        elsewhere is kept. --accept erases the blocks here for good, in all that the refs under
        refs/remotes/NAME reach, and keeps them away from then on; there is no way back. What no such
        ref reaches waits on. --reject leaves them. Both are about all that wait, or about the blocks
        that are named, and what was decided is not asked again.

        name: of this remote (default: of all)
        cid: about these blocks alone
        accept: erase the blocks here for good
        reject: leave the blocks here
        time: time of the change, RFC 3339
        """
        answer: RemoteRedactionsAnswer | RedactionsClosed = self._verb('remote_redactions', locals())
        return answer

    def reset(
        self,
        *,
        expect: str | None = None,
        stage: str | None = None,
        time: str | None = None,
    ) -> ResetAnswer:
        """Discard what a stage holds and print how much that was. Commits are not affected.

        expect: the CID of the commit that HEAD must be at, or "none" before the first; else exit code 5
        stage: the stage to use
        time: time of the change, RFC 3339
        """
        answer: ResetAnswer = self._verb('reset', locals())
        return answer

    def restore(
        self,
        nodes: Sequence[str],
        rev: str | None = None,
        *,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        message: str | None = None,
        reason: str | None = None,
        time: str | None = None,
    ) -> RestoreAnswer | RestoreMarks:
        """Without REV, remove the marks of nodes in one commit: forgotten, retired, superseded, expired or
        stale nodes are visible again. For two nodes that contradict each other both marks are removed.

        nodes: nodes, each by key, id, at least 4 digits of an id, or exact title
        rev: the revision to bring nodes back from; without it marks are taken off, unless the first of
            several nodes is a revision: key:NAME is always a node
        allow_secret: write what RULE of 'mnem config secrets' takes for a credential
        branch: the branch to write to
        dry_run: print what would change and write nothing
        expect: the CID of the commit that the branch must be at; else exit code 5
        message: what the commit is about; default: what was done
        reason: why, TEXT: it is kept with the mark
        time: time of the change, RFC 3339
        """
        answer: RestoreAnswer | RestoreMarks = self._verb('restore', locals())
        return answer

    def retrieve(
        self,
        query: str | None = None,
        *,
        adjacency: int | None = None,
        also: Sequence[str] | None = None,
        altitude: Literal["entity", "scope", "root", "auto"] | None = None,
        at: str | None = None,
        budget: int | None = None,
        community: bool | None = None,
        current: bool | None = None,
        damping: float | None = None,
        decay: float | None = None,
        dedup: bool | None = None,
        direction: Literal["out", "in", "both"] | None = None,
        edge_weight: Sequence[str] | None = None,
        embed: bool | None = None,
        exclude: Sequence[str] | None = None,
        expand: int | None = None,
        expand_type: Sequence[str] | None = None,
        expansion: Literal["lend", "decay", "ppr"] | None = None,
        explain: bool | None = None,
        floor: Literal["answer", "maybe", "rest"] | None = None,
        follow: bool | None = None,
        format: Literal["yaml", "brief"] | None = None,
        fusion: Literal["convex", "rrf", "weighted-rrf", "score-norm"] | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        intent: Literal["auto", "why", "when", "entity", "general"] | None = None,
        limit: int | None = None,
        max_expand: int | None = None,
        now: str | None = None,
        order: Literal["rank", "time"] | None = None,
        pack: Literal["auto", "whole", "passages"] | None = None,
        passage_tokens: int | None = None,
        profile: str | None = None,
        receipt: bool | None = None,
        rerank: bool | None = None,
        rerank_top: int | None = None,
        rewrite: bool | Literal["multi", "hyde"] | None = None,
        rewrites: int | None = None,
        session: str | None = None,
        show: Sequence[Literal["times", "key", "content"]] | None = None,
        since: str | None = None,
        spelling: Literal["on", "off"] | None = None,
        summary_cap: int | None = None,
        time: str | None = None,
        tokenizer: Literal["estimate"] | None = None,
        type: Sequence[str] | None = None,
        unseen: bool | None = None,
        until: str | None = None,
        updated_from: str | None = None,
        updated_to: str | None = None,
        valid_at: str | None = None,
        weight: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
        zone: str | None = None,
    ) -> RetrieveAnswer:
        """Find the nodes that match a query, its filters, or both, and print them as text for a language
        model, best first, until --limit items are printed or --budget tokens are used. Without a query
        the newest nodes that pass the filters. A query - is read from standard input.

        query: the question or words to look for
        adjacency: print N edges of each item in each direction
        also: search for this TEXT too: the query in other words (repeatable, at most 8)
        altitude: print digests of scopes in place of items that do not fit: HOW is entity (never),
            scope, root (that of the whole first) or auto (as scope where the query asks broadly)
        at: the REVision to read; see 'mnem help revisions'
        budget: at most N tokens; 0 for no budget
        community: raise and add members of the communities that the best nodes are in
        current: leave out replaced memories
        damping: with expansion=ppr: the SHARE that moves on, between 0 and 1
        decay: with expansion=decay: the SHARE that each hop keeps, above 0 to 1
        dedup: leave out what repeats an item before it
        direction: expand along edges out, in or both
        edge_weight: lend so much over edges of a type: TYPE=W, W 0 to 16, 1 for others
        embed: use the embedding model of the configuration too
        exclude: leave out this NODE, by key or id
        expand: expand in N rounds, 0 for none, at most 4; with ppr 20 rounds, at most 64
        expand_type: expand along edges of this TYPE only
        expansion: how nodes raise those linked to them: WAY is lend, decay or ppr
        explain: tell how each item was found, and what did not fit
        floor: print items down to this BAND: answer, maybe or rest
        follow: with a session: answer from HEAD, not from its commit
        format: print items in this FORM: brief or yaml, which has full ids
        fusion: how text and vectors become one list: WAY is convex, rrf, weighted-rrf or score-norm
        include: show nodes and edges in these hidden STATES too: forgotten, superseded, expired,
            retired
        intent: rank as 'mnem recall' does: INTENT is auto, why, when, entity or general
        limit: at most N items; 0 for no limit
        max_expand: at most N nodes join that only expansion finds
        now: count dates like 'last week' in the query from the day of this TIME; default today
        order: print items by rank or by time (oldest first)
        pack: print TEXTS whole, or the passages of summary and content that fit the query best; auto:
            whole while the budget lasts, passages of chunks that do not fit
        passage_tokens: with pack=passages or auto: at most N tokens of each text
        profile: take what no flag says from this NAME; see 'mnem config profile --help'
        receipt: record the answer, without a session too
        rerank: judge the best items again by the model of the configuration
        rerank_top: judge N items; 1 to 200
        rewrite: let the model of the configuration put the query into other words: multi, or true, or
            hyde for a made-up answer
        rewrites: with rewrite=multi: N texts, 1 to 8
        session: answer in this session and record it
        show: print these LINES too: times, key, content
        since: created at this TIME or later
        spelling: read words that no node has as the closest that some have: on or off
        summary_cap: cut each text at N characters; 0 for whole
        time: time of the change, RFC 3339
        tokenizer: count tokens by NAME: estimate, or a counter of the program that has the repository
            open
        type: only nodes of this TYPE
        unseen: leave out what the session was shown before
        until: created before this TIME
        updated_from: updated (or else created) at this TIME or later
        updated_to: updated (or else created) before this TIME
        valid_at: valid at this TIME
        weight: count a lane so much: LANE=W, LANE text, text:N, time, dense:MODEL or sparse:MODEL, W 0
            to 16
        where: only where this PREDICATE holds
        zone: read dates in the query as days of this ZONE: a name like Europe/Berlin, or an offset like
            +02:00
        """
        answer: RetrieveAnswer = self._verb('retrieve', locals())
        return answer

    def retrieve_batch(
        self,
        *,
        lines: Sequence[Mapping[str, Any]],
        adjacency: int | None = None,
        also: Sequence[str] | None = None,
        altitude: Literal["entity", "scope", "root", "auto"] | None = None,
        at: str | None = None,
        budget: int | None = None,
        community: bool | None = None,
        current: bool | None = None,
        damping: float | None = None,
        decay: float | None = None,
        dedup: bool | None = None,
        direction: Literal["out", "in", "both"] | None = None,
        edge_weight: Sequence[str] | None = None,
        embed: bool | None = None,
        exclude: Sequence[str] | None = None,
        expand: int | None = None,
        expand_type: Sequence[str] | None = None,
        expansion: Literal["lend", "decay", "ppr"] | None = None,
        explain: bool | None = None,
        floor: Literal["answer", "maybe", "rest"] | None = None,
        follow: bool | None = None,
        format: Literal["yaml", "brief"] | None = None,
        fusion: Literal["convex", "rrf", "weighted-rrf", "score-norm"] | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        intent: Literal["auto", "why", "when", "entity", "general"] | None = None,
        limit: int | None = None,
        max_expand: int | None = None,
        now: str | None = None,
        order: Literal["rank", "time"] | None = None,
        pack: Literal["auto", "whole", "passages"] | None = None,
        passage_tokens: int | None = None,
        profile: str | None = None,
        receipt: bool | None = None,
        rerank: bool | None = None,
        rerank_top: int | None = None,
        rewrite: bool | Literal["multi", "hyde"] | None = None,
        rewrites: int | None = None,
        session: str | None = None,
        show: Sequence[Literal["times", "key", "content"]] | None = None,
        since: str | None = None,
        spelling: Literal["on", "off"] | None = None,
        summary_cap: int | None = None,
        time: str | None = None,
        tokenizer: Literal["estimate"] | None = None,
        type: Sequence[str] | None = None,
        unseen: bool | None = None,
        until: str | None = None,
        updated_from: str | None = None,
        updated_to: str | None = None,
        valid_at: str | None = None,
        weight: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
        zone: str | None = None,
    ) -> list[RetrieveBatchAnswer]:
        """Find the nodes that match a query, its filters, or both, and print them as text for a language
        model, best first, until --limit items are printed or --budget tokens are used. Without a query
        the newest nodes that pass the filters. A query - is read from standard input.

        lines: requests: objects with text and any parameter of retrieve
        adjacency: print N edges of each item in each direction
        also: search for this TEXT too: the query in other words (repeatable, at most 8)
        altitude: print digests of scopes in place of items that do not fit: HOW is entity (never),
            scope, root (that of the whole first) or auto (as scope where the query asks broadly)
        at: the REVision to read; see 'mnem help revisions'
        budget: at most N tokens; 0 for no budget
        community: raise and add members of the communities that the best nodes are in
        current: leave out replaced memories
        damping: with expansion=ppr: the SHARE that moves on, between 0 and 1
        decay: with expansion=decay: the SHARE that each hop keeps, above 0 to 1
        dedup: leave out what repeats an item before it
        direction: expand along edges out, in or both
        edge_weight: lend so much over edges of a type: TYPE=W, W 0 to 16, 1 for others
        embed: use the embedding model of the configuration too
        exclude: leave out this NODE, by key or id
        expand: expand in N rounds, 0 for none, at most 4; with ppr 20 rounds, at most 64
        expand_type: expand along edges of this TYPE only
        expansion: how nodes raise those linked to them: WAY is lend, decay or ppr
        explain: tell how each item was found, and what did not fit
        floor: print items down to this BAND: answer, maybe or rest
        follow: with a session: answer from HEAD, not from its commit
        format: print items in this FORM: brief or yaml, which has full ids
        fusion: how text and vectors become one list: WAY is convex, rrf, weighted-rrf or score-norm
        include: show nodes and edges in these hidden STATES too: forgotten, superseded, expired,
            retired
        intent: rank as 'mnem recall' does: INTENT is auto, why, when, entity or general
        limit: at most N items; 0 for no limit
        max_expand: at most N nodes join that only expansion finds
        now: count dates like 'last week' in the query from the day of this TIME; default today
        order: print items by rank or by time (oldest first)
        pack: print TEXTS whole, or the passages of summary and content that fit the query best; auto:
            whole while the budget lasts, passages of chunks that do not fit
        passage_tokens: with pack=passages or auto: at most N tokens of each text
        profile: take what no flag says from this NAME; see 'mnem config profile --help'
        receipt: record the answer, without a session too
        rerank: judge the best items again by the model of the configuration
        rerank_top: judge N items; 1 to 200
        rewrite: let the model of the configuration put the query into other words: multi, or true, or
            hyde for a made-up answer
        rewrites: with rewrite=multi: N texts, 1 to 8
        session: answer in this session and record it
        show: print these LINES too: times, key, content
        since: created at this TIME or later
        spelling: read words that no node has as the closest that some have: on or off
        summary_cap: cut each text at N characters; 0 for whole
        time: time of the change, RFC 3339
        tokenizer: count tokens by NAME: estimate, or a counter of the program that has the repository
            open
        type: only nodes of this TYPE
        unseen: leave out what the session was shown before
        until: created before this TIME
        updated_from: updated (or else created) at this TIME or later
        updated_to: updated (or else created) before this TIME
        valid_at: valid at this TIME
        weight: count a lane so much: LANE=W, LANE text, text:N, time, dense:MODEL or sparse:MODEL, W 0
            to 16
        where: only where this PREDICATE holds
        zone: read dates in the query as days of this ZONE: a name like Europe/Berlin, or an offset like
            +02:00
        """
        answer: list[RetrieveBatchAnswer] = self._verb('retrieve_batch', locals())
        return answer

    def revert(
        self,
        rev: str,
        *,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        conflicts: Literal["stop", "newest", "ours", "theirs"] | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        message: str | None = None,
        time: str | None = None,
    ) -> RevertAnswer:
        """Revert what a commit changed against its first parent, or all commits after FROM up to TO, by
        one new commit. Later changes of other things stay. A thing that was changed again since is a
        conflict, as in 'mnem merge', which also lists, resolves and continues. Reverting the newest
        commit restores the previous graph exactly, times included.

        rev: the commit, branch or range A..B
        allow_secret: write what RULE of 'mnem config secrets' takes for a credential
        branch: the branch to write to
        conflicts: what to do if both sides changed one thing: RULE is stop, newest, ours, theirs
        dry_run: say what would happen and write nothing
        expect: the CID of the commit that the branch must be at; else exit code 5
        message: what the commit is about; default: what was done
        time: time of the change, RFC 3339
        """
        answer: RevertAnswer = self._verb('revert', locals())
        return answer

    def review(
        self,
        *,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        drop: Sequence[str] | None = None,
        dry_run: bool | None = None,
        keep: Sequence[str] | None = None,
        limit: int | None = None,
        pin: Sequence[str] | None = None,
        rest_of: str | None = None,
        set: Sequence[str] | None = None,
        time: str | None = None,
    ) -> ReviewAnswer:
        """Go through what came into the memory since the last review, what was remembered first, then what
        was said, each in the order of time. On a terminal one memory is shown at a time, and one key
        decides: k keeps it, d forgets it, p pins it, e asks for another text, s skips it, u goes back
        by one, and q ends. What was decided is done at the end in one commit, which 'mnem undo' takes
        back; Ctrl-C ends without any of it. What was skipped, and what comes after q, is shown the next
        time.

        allow_secret: write what RULE of 'mnem config secrets' takes for a credential
        branch: the branch to write to
        drop: forget these NODES
        dry_run: print what would change and write nothing
        keep: keep these NODES: they were reviewed
        limit: list at most N memories
        pin: keep and pin these NODES
        rest_of: keep all else that was there at CID, the head of a listing
        set: give a node another text: NODE=TEXT
        time: time of the change, RFC 3339
        """
        answer: ReviewAnswer = self._verb('review', locals())
        return answer

    def rm(
        self,
        nodes: Sequence[str] | None = None,
        *,
        all: bool | None = None,
        branch: str | None = None,
        edge: Sequence[str] | None = None,
        expect: str | None = None,
        key: str | None = None,
        link: bool | None = None,
        stage: str | None = None,
        time: str | None = None,
    ) -> RmAnswer:
        """Stage the removal of nodes, each with its edges, marks and embeddings, and of edges given by
        their ids. --link removes the edge of a TYPE from SRC to DST: the one without a key, the one
        that --key names, or with --all every one. A NODE is named by its key, its id or a unique prefix
        of its id. Older commits keep what is removed.

        nodes: nodes, each by key, id or at least 4 digits of an id; with link SRC TYPE DST
        all: with link: remove all edges of the type between the two nodes
        branch: the branch that an empty stage builds on
        edge: the ID of an edge to remove
        expect: the CID of the commit that HEAD must be at, or "none" before the first; else exit code 5
        key: the key of the edge that link removes
        link: remove the edge of TYPE from SRC to DST
        stage: the stage to use
        time: time of the change, RFC 3339
        """
        answer: RmAnswer = self._verb('rm', locals())
        return answer

    def session_advance(
        self,
        name: str,
        *,
        time: str | None = None,
        to: str | None = None,
    ) -> SessionAdvanceAnswer:
        """Pin a session to the commit at --to for the retrievals to come.

        name: the name of the session
        time: time of the change, RFC 3339
        to: the REVision to pin
        """
        answer: SessionAdvanceAnswer = self._verb('session_advance', locals())
        return answer

    def session_end(
        self,
        name: str,
        *,
        time: str | None = None,
    ) -> SessionEndAnswer:
        """End a session. It can still be read and replayed; nothing is recorded in it any more.

        name: the name of the session
        time: time of the change, RFC 3339
        """
        answer: SessionEndAnswer = self._verb('session_end', locals())
        return answer

    def session_list(
        self,
    ) -> list[SessionListAnswer]:
        """List all sessions in order of name. A session that went on at two machines has two chains after
        a sync: that of the other one is NAME.CID, with the first record that differs. With --json, one
        object a line.
        """
        answer: list[SessionListAnswer] = self._verb('session_list', locals())
        return answer

    def session_log(
        self,
        name: str,
        *,
        limit: int | None = None,
    ) -> list[SessionLogAnswer]:
        """List the records of a session, newest first: where it was pinned, and every receipt with its
        query, commit, numbers of items and tokens, and the names of the first items, but for those that
        were hidden since. With --json, one object a line.

        name: the name of the session
        limit: at most N records; 0 for all
        """
        answer: list[SessionLogAnswer] = self._verb('session_log', locals())
        return answer

    def session_replay(
        self,
        record: str,
    ) -> SessionReplayAnswer:
        """Answer every request that a session recorded, each at its own commit, or the one request of a
        receipt, and compare the answers with the recorded ones, bit for bit. The exit code is 0 if all
        are identical. It is 4 if an answer differs, if stored data is damaged, if a receipt needs a
        ranking version that this program lacks, or if something the answer depends on was purged since:
        then the comparison is impossible.

        record: the name of a session or the CID of a receipt
        """
        answer: SessionReplayAnswer = self._verb('session_replay', locals())
        return answer

    def session_rm(
        self,
        name: str,
        *,
        time: str | None = None,
    ) -> SessionRmAnswer:
        """Remove a session and its receipts from sight. Their records stay in older operations.

        name: the name of the session
        time: time of the change, RFC 3339
        """
        answer: SessionRmAnswer = self._verb('session_rm', locals())
        return answer

    def session_start(
        self,
        name: str,
        *,
        at: str | None = None,
        follow: bool | None = None,
        time: str | None = None,
    ) -> SessionStartAnswer:
        """Start a session that answers from the commit at --at, or with --follow from what HEAD is at each
        retrieval. --agent and --task say who works on what.

        name: the name of the session
        at: the REVision to read; see 'mnem help revisions'
        follow: answer from HEAD at each retrieval
        time: time of the change, RFC 3339
        """
        answer: SessionStartAnswer = self._verb('session_start', locals())
        return answer

    def show(
        self,
        name: str | None = None,
        *,
        at: str | None = None,
        field: str | None = None,
        importance: bool | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        now: str | None = None,
        raw: bool | None = None,
        signatures: bool | None = None,
    ) -> ShowAnswer | ShowCommit | ShowEdge | ShowOperation | ShowBlock | Any:
        """Print a memory with its links, a commit with what it changed, or anything else that is stored.
        THING is one of these; without one it is the commit at --at. What a name means first counts:

        name: a node by key, id, at least 4 digits of an id, or exact title; an edge by id; a revision;
            a CID
        at: the REVision to read; see 'mnem help revisions'
        field: the value of this field of a node alone; with raw, what is at this path of the block, as
            a/0/b, over links
        importance: print the effective importance of a node too
        include: show nodes and edges in these hidden STATES too: forgotten, superseded, expired,
            retired
        now: TIME that the importance is of, RFC 3339 or YYYY-MM-DD (default: now)
        raw: the stored block as DAG-JSON
        signatures: print what signatures are worth, as 'mnem key verify' does
        """
        answer: ShowAnswer | ShowCommit | ShowEdge | ShowOperation | ShowBlock | Any = self._verb('show', locals())
        return answer

    @overload
    def stats(
        self,
        *,
        at: str | None = None,
        limit: int | None = None,
    ) -> StatsAnswer: ...

    @overload
    def stats(
        self,
        *,
        at: str | None = None,
        limit: int | None = None,
        schema: bool | None = None,
    ) -> StatsAnswer | StatsSchema: ...

    def stats(
        self,
        *,
        at: str | None = None,
        limit: int | None = None,
        schema: bool | None = None,
    ) -> StatsAnswer | StatsSchema:
        """Count the nodes and edges of a commit by type, its marks by state, the commits behind it by
        agent (or author), its embeddings, the size of its index, and the operations, blocks and bytes
        of the whole repository. It looks at every block.

        at: the REVision to read; see 'mnem help revisions'
        limit: with --schema: at most N names in each list
        schema: list the types, properties and edge types that queries can refer to
        """
        answer: StatsAnswer | StatsSchema = self._verb('stats', locals())
        return answer

    def status(
        self,
        *,
        stage: str | None = None,
    ) -> StatusAnswer:
        """Show the branch, its newest commit and what a stage changes: A added, M changed, D removed. It
        says when the branch has moved since the stage began; committing merges then. A merge that waits
        for conflicts to be resolved, and commits kept because they did not merge, are shown with what
        to do about them; and of remotes that are synced automatically, when that last worked.

        stage: the stage to use
        """
        answer: StatusAnswer = self._verb('status', locals())
        return answer

    def switch(
        self,
        name: str | None = None,
        rev: str | None = None,
        *,
        create: bool | None = None,
        detach: bool | None = None,
        expect: str | None = None,
        force: bool | None = None,
        time: str | None = None,
    ) -> SwitchAnswer:
        """Switch HEAD to another branch: commands read from it and commits go to it, unless they name
        another one. -c creates the branch first, at a revision or at HEAD. --detach puts HEAD at a
        commit and on no branch: everything can be read there, and a write that names no branch is
        refused. What is staged stays staged for its branch.

        name: the branch, or with detach a revision
        rev: with create: where the branch begins
        create: make the branch
        detach: be at a commit and on no branch
        expect: the CID of the commit that HEAD must be at, or "none" before the first; else exit code 5
        force: with -c: move the branch if there is one already
        time: time of the change, RFC 3339
        """
        answer: SwitchAnswer = self._verb('switch', locals())
        return answer

    def tag(
        self,
        name: str | None = None,
        rev: str | None = None,
        *,
        allow_secret: Sequence[str] | None = None,
        delete: bool | None = None,
        expect: str | None = None,
        force: bool | None = None,
        message: str | None = None,
        time: str | None = None,
    ) -> list[TagAnswer | TagRemoved]:
        """Without a name, list the tags. With a name, tag a commit, by default that of HEAD; with -m the
        tag also records who made it, when and why. A tag does not move unless --force is given. -d
        removes a tag.

        name: the tag; none to list them
        rev: a branch, tag, CID or any other revision
        allow_secret: write what RULE of 'mnem config secrets' takes for a credential
        delete: remove a tag
        expect: the CID of the commit that the name must be at, or "none" where it must not exist; else
            exit code 5
        force: move a tag that exists
        message: what the tag is about; it then also records who made it and when
        time: time of the change, RFC 3339
        """
        answer: list[TagAnswer | TagRemoved] = self._verb('tag', locals())
        return answer

    def undo(
        self,
        op: str | None = None,
        *,
        expect: str | None = None,
        own: bool | None = None,
        redo: bool | None = None,
        time: str | None = None,
    ) -> UndoAnswer:
        """Take back what one operation did to branches, tags, HEAD and stages: by default the caller's
        newest that is not taken back yet, so that repeated calls go further back. Captures, fetches and
        what sessions record are passed over, and the answer names them; an operation that is named may
        be a capture or anyone's. Taking back an undo, by name or by --redo, is a redo. Nothing is lost:
        undo is an operation itself, and commits stay reachable through the log. --own also passes over
        operations of other agents, and those that made no commit.

        op: an operation by number or CID; none for the newest
        expect: the CID of the commit that HEAD must be at, or "none" before the first; else exit code 5
        own: only what this author and agent committed
        redo: take back the caller's last undo instead; again, the one before
        time: time of the change, RFC 3339
        """
        answer: UndoAnswer = self._verb('undo', locals())
        return answer

    def version(
        self,
    ) -> VersionAnswer:
        """Print the version of the program and of Go, and those of the record format, the ranking and the
        text analysis: equal numbers give equal bytes.
        """
        answer: VersionAnswer = self._verb('version', locals())
        return answer


class AsyncVerbs:
    """The methods of Verbs as coroutines."""

    async def _verb(self, name: str, arguments: dict[str, Any]) -> Any:
        raise NotImplementedError

    async def add(
        self,
        *,
        lines: Sequence[Mapping[str, Any]],
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        expect: str | None = None,
        stage: str | None = None,
        strict: bool | None = None,
        time: str | None = None,
    ) -> AddAnswer:
        answer: AddAnswer = await self._verb('add', locals())
        return answer

    async def blame(
        self,
        node: str,
        *,
        at: str | None = None,
        field: Sequence[str] | None = None,
    ) -> BlameAnswer:
        answer: BlameAnswer = await self._verb('blame', locals())
        return answer

    async def branch(
        self,
        name: str | None = None,
        rev: str | None = None,
        *,
        delete: bool | None = None,
        expect: str | None = None,
        force: bool | None = None,
        move: bool | None = None,
        time: str | None = None,
    ) -> list[BranchAnswer | BranchRemoved]:
        answer: list[BranchAnswer | BranchRemoved] = await self._verb('branch', locals())
        return answer

    async def cherry_pick(
        self,
        rev: str,
        *,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        conflicts: Literal["stop", "newest", "ours", "theirs"] | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        message: str | None = None,
        time: str | None = None,
    ) -> CherryPickAnswer:
        answer: CherryPickAnswer = await self._verb('cherry_pick', locals())
        return answer

    async def commit(
        self,
        *,
        allow_secret: Sequence[str] | None = None,
        amend: bool | None = None,
        branch: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        expect_node: Sequence[str] | None = None,
        from_: str | None = None,
        lines: Sequence[Mapping[str, Any]] | None = None,
        message: str | None = None,
        stage: str | None = None,
        strict: bool | None = None,
        time: str | None = None,
    ) -> CommitAnswer:
        answer: CommitAnswer = await self._verb('commit', locals())
        return answer

    async def config_half_life(
        self,
        half_lives: Sequence[str] | None = None,
        *,
        at: str | None = None,
        branch: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        message: str | None = None,
        remove: bool | None = None,
        time: str | None = None,
    ) -> ConfigHalfLifeAnswer:
        answer: ConfigHalfLifeAnswer = await self._verb('config_half_life', locals())
        return answer

    async def config_profile(
        self,
        name: str | None = None,
        *,
        adjacency: int | None = None,
        altitude: Literal["entity", "scope", "root", "auto"] | None = None,
        at: str | None = None,
        branch: str | None = None,
        budget: int | None = None,
        community: bool | None = None,
        damping: float | None = None,
        decay: float | None = None,
        dedup: bool | None = None,
        default: bool | None = None,
        direction: Literal["out", "in", "both"] | None = None,
        edge_weight: Sequence[str] | None = None,
        expand: int | None = None,
        expand_type: Sequence[str] | None = None,
        expansion: Literal["lend", "decay", "ppr"] | None = None,
        expect: str | None = None,
        floor: Literal["answer", "maybe", "rest"] | None = None,
        from_: str | None = None,
        fusion: Literal["convex", "rrf", "weighted-rrf", "score-norm"] | None = None,
        limit: int | None = None,
        max_expand: int | None = None,
        message: str | None = None,
        order: Literal["rank", "time"] | None = None,
        pack: Literal["auto", "whole", "passages"] | None = None,
        passage_tokens: int | None = None,
        remove: bool | None = None,
        show: Sequence[Literal["times", "key", "content"]] | None = None,
        spelling: Literal["on", "off"] | None = None,
        summary_cap: int | None = None,
        time: str | None = None,
        tokenizer: Literal["estimate"] | None = None,
        type: Sequence[str] | None = None,
        unset: Sequence[str] | None = None,
        weight: Sequence[str] | None = None,
    ) -> list[ConfigProfileAnswer | ProfilesChange]:
        answer: list[ConfigProfileAnswer | ProfilesChange] = await self._verb('config_profile', locals())
        return answer

    async def consolidate(
        self,
        picks: Sequence[str] | None = None,
        *,
        accept: bool | None = None,
        allow_secret: Sequence[str] | None = None,
        at: str | None = None,
        branch: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        keep: int | None = None,
        kind: Sequence[str] | None = None,
        limit: int | None = None,
        message: str | None = None,
        now: str | None = None,
        reason: str | None = None,
        reject: bool | None = None,
        time: str | None = None,
    ) -> ConsolidateAnswer | ConsolidateDone:
        answer: ConsolidateAnswer | ConsolidateDone = await self._verb('consolidate', locals())
        return answer

    @overload
    async def diff(
        self,
        a: str | None = None,
        b: str | None = None,
        *,
        stage: str | None = None,
        staged: bool | None = None,
        type: Sequence[str] | None = None,
    ) -> DiffAnswer: ...

    @overload
    async def diff(
        self,
        a: str | None = None,
        b: str | None = None,
        *,
        stage: str | None = None,
        staged: bool | None = None,
        stat: bool | None = None,
        type: Sequence[str] | None = None,
    ) -> DiffAnswer | DiffStat: ...

    async def diff(
        self,
        a: str | None = None,
        b: str | None = None,
        *,
        stage: str | None = None,
        staged: bool | None = None,
        stat: bool | None = None,
        type: Sequence[str] | None = None,
    ) -> DiffAnswer | DiffStat:
        answer: DiffAnswer | DiffStat = await self._verb('diff', locals())
        return answer

    async def embed(
        self,
        *,
        all: bool | None = None,
        branch: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        limit: int | None = None,
        message: str | None = None,
        stale: bool | None = None,
        time: str | None = None,
        type: Sequence[str] | None = None,
    ) -> EmbedAnswer:
        answer: EmbedAnswer = await self._verb('embed', locals())
        return answer

    async def embed_cues(
        self,
        *,
        after: str | None = None,
        at: str | None = None,
        limit: int | None = None,
        missing: bool | None = None,
        type: Sequence[str] | None = None,
    ) -> EmbedCuesAnswer | CuesWritten:
        answer: EmbedCuesAnswer | CuesWritten = await self._verb('embed_cues', locals())
        return answer

    async def explore(
        self,
        topic: str | None = None,
        *,
        adjacency: int | None = None,
        at: str | None = None,
        communities: bool | None = None,
        depth: int | None = None,
        edge: Sequence[str] | None = None,
        in_: bool | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        limit: int | None = None,
        out: bool | None = None,
        tags: bool | None = None,
        to: str | None = None,
        type: Sequence[str] | None = None,
    ) -> ExploreAnswer:
        answer: ExploreAnswer = await self._verb('explore', locals())
        return answer

    async def forget(
        self,
        nodes: Sequence[str] | None = None,
        *,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        confirm: int | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        message: str | None = None,
        reason: str | None = None,
        time: str | None = None,
        type: Sequence[str] | None = None,
        until: str | None = None,
        where: Sequence[str] | None = None,
    ) -> ForgetAnswer:
        answer: ForgetAnswer = await self._verb('forget', locals())
        return answer

    async def fsck(
        self,
        *,
        full: bool | None = None,
        rebuild: bool | None = None,
    ) -> FsckAnswer:
        answer: FsckAnswer = await self._verb('fsck', locals())
        return answer

    async def gc(
        self,
        *,
        dry_run: bool | None = None,
        grace: str | None = None,
        keep: int | None = None,
        time: str | None = None,
    ) -> GcAnswer:
        answer: GcAnswer = await self._verb('gc', locals())
        return answer

    async def key_verify(
        self,
        rev: str | None = None,
        *,
        all: bool | None = None,
        limit: int | None = None,
        strict: bool | None = None,
    ) -> list[KeyVerifyAnswer]:
        answer: list[KeyVerifyAnswer] = await self._verb('key_verify', locals())
        return answer

    async def log(
        self,
        node: str | None = None,
        *,
        agent: Sequence[str] | None = None,
        at: str | None = None,
        author: Sequence[str] | None = None,
        grep: str | None = None,
        limit: int | None = None,
        oneline: bool | None = None,
        signatures: bool | None = None,
        since: str | None = None,
        stat: bool | None = None,
        type: Sequence[str] | None = None,
        until: str | None = None,
    ) -> list[LogAnswer]:
        answer: list[LogAnswer] = await self._verb('log', locals())
        return answer

    @overload
    async def ls(
        self,
        *,
        after: str | None = None,
        all: bool | None = None,
        at: str | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        limit: int | None = None,
        now: str | None = None,
        sort: str | None = None,
        sources: bool | None = None,
        type: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
    ) -> LsAnswer: ...

    @overload
    async def ls(
        self,
        *,
        after: str | None = None,
        all: bool | None = None,
        at: str | None = None,
        edges: bool | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        limit: int | None = None,
        now: str | None = None,
        sort: str | None = None,
        sources: bool | None = None,
        type: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
    ) -> LsAnswer | LsEdges: ...

    async def ls(
        self,
        *,
        after: str | None = None,
        all: bool | None = None,
        at: str | None = None,
        edges: bool | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        limit: int | None = None,
        now: str | None = None,
        sort: str | None = None,
        sources: bool | None = None,
        type: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
    ) -> LsAnswer | LsEdges:
        answer: LsAnswer | LsEdges = await self._verb('ls', locals())
        return answer

    async def map(
        self,
        scope: str | None = None,
        *,
        allow_secret: Sequence[str] | None = None,
        at: str | None = None,
        branch: str | None = None,
        budget: int | None = None,
        by: Sequence[str] | None = None,
        depth: int | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        message: str | None = None,
        rebuild: bool | None = None,
        resolve: str | None = None,
        since: str | None = None,
        text: str | None = None,
        time: str | None = None,
        write: str | None = None,
    ) -> MapAnswer:
        answer: MapAnswer = await self._verb('map', locals())
        return answer

    async def mark(
        self,
        *,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        by: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        kind: str | None = None,
        message: str | None = None,
        nodes: Sequence[str] | None = None,
        now: str | None = None,
        reason: str | None = None,
        remove: bool | None = None,
        time: str | None = None,
    ) -> MarkAnswer:
        answer: MarkAnswer = await self._verb('mark', locals())
        return answer

    async def merge(
        self,
        rev: str | None = None,
        *,
        abort: bool | None = None,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        conflicts: Literal["stop", "newest", "ours", "theirs"] | None = None,
        continue_: bool | None = None,
        drop: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        lines: Sequence[Mapping[str, Any]] | None = None,
        list: bool | None = None,
        message: str | None = None,
        no_ff: bool | None = None,
        require_signed: bool | None = None,
        resolve: str | None = None,
        take: Literal["ours", "theirs", "base"] | None = None,
        time: str | None = None,
    ) -> MergeAnswer | MergeState:
        answer: MergeAnswer | MergeState = await self._verb('merge', locals())
        return answer

    async def op_log(
        self,
        *,
        limit: int | None = None,
    ) -> list[OpLogAnswer]:
        answer: list[OpLogAnswer] = await self._verb('op_log', locals())
        return answer

    async def op_restore(
        self,
        op: str,
        *,
        expect: str | None = None,
        time: str | None = None,
    ) -> OpRestoreAnswer:
        answer: OpRestoreAnswer = await self._verb('op_restore', locals())
        return answer

    async def op_show(
        self,
        op: str | None = None,
        *,
        since: str | None = None,
    ) -> OpShowAnswer:
        answer: OpShowAnswer = await self._verb('op_show', locals())
        return answer

    async def pack_redact(
        self,
        *,
        dry_run: bool | None = None,
        redactions: Sequence[str] | None = None,
        time: str | None = None,
        yes: bool | None = None,
    ) -> PackRedactAnswer:
        answer: PackRedactAnswer = await self._verb('pack_redact', locals())
        return answer

    async def pack_redactions(
        self,
        *,
        after: str | None = None,
    ) -> PackRedactionsAnswer:
        answer: PackRedactionsAnswer = await self._verb('pack_redactions', locals())
        return answer

    async def pack_refs(
        self,
        *,
        have: Sequence[str] | None = None,
        sessions: bool | None = None,
        tracking: bool | None = None,
    ) -> PackRefsAnswer:
        answer: PackRefsAnswer = await self._verb('pack_refs', locals())
        return answer

    async def pin(
        self,
        nodes: Sequence[str],
        *,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        message: str | None = None,
        remove: bool | None = None,
        time: str | None = None,
    ) -> PinAnswer:
        answer: PinAnswer = await self._verb('pin', locals())
        return answer

    async def purge(
        self,
        node: str,
        *,
        dry_run: bool | None = None,
        expect: str | None = None,
        reason: str | None = None,
        time: str | None = None,
        yes: bool | None = None,
    ) -> PurgeAnswer:
        answer: PurgeAnswer = await self._verb('purge', locals())
        return answer

    async def recall(
        self,
        query: str | None = None,
        *,
        adjacency: int | None = None,
        also: Sequence[str] | None = None,
        altitude: Literal["entity", "scope", "root", "auto"] | None = None,
        at: str | None = None,
        budget: int | None = None,
        community: bool | None = None,
        current: bool | None = None,
        damping: float | None = None,
        decay: float | None = None,
        dedup: bool | None = None,
        direction: Literal["out", "in", "both"] | None = None,
        edge_weight: Sequence[str] | None = None,
        embed: bool | None = None,
        exclude: Sequence[str] | None = None,
        expand: int | None = None,
        expand_type: Sequence[str] | None = None,
        expansion: Literal["lend", "decay", "ppr"] | None = None,
        explain: bool | None = None,
        floor: Literal["answer", "maybe", "rest"] | None = None,
        follow: bool | None = None,
        format: Literal["yaml", "brief"] | None = None,
        fusion: Literal["convex", "rrf", "weighted-rrf", "score-norm"] | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        intent: Literal["auto", "why", "when", "entity", "general"] | None = None,
        limit: int | None = None,
        max_expand: int | None = None,
        now: str | None = None,
        order: Literal["rank", "time"] | None = None,
        pack: Literal["auto", "whole", "passages"] | None = None,
        passage_tokens: int | None = None,
        profile: str | None = None,
        receipt: bool | None = None,
        rerank: bool | None = None,
        rerank_top: int | None = None,
        rewrite: bool | Literal["multi", "hyde"] | None = None,
        rewrites: int | None = None,
        session: str | None = None,
        show: Sequence[Literal["times", "key", "content"]] | None = None,
        since: str | None = None,
        spelling: Literal["on", "off"] | None = None,
        summary_cap: int | None = None,
        time: str | None = None,
        tokenizer: Literal["estimate"] | None = None,
        type: Sequence[str] | None = None,
        unseen: bool | None = None,
        until: str | None = None,
        updated_from: str | None = None,
        updated_to: str | None = None,
        valid_at: str | None = None,
        weight: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
        zone: str | None = None,
    ) -> RecallAnswer:
        answer: RecallAnswer = await self._verb('recall', locals())
        return answer

    async def recall_batch(
        self,
        *,
        lines: Sequence[Mapping[str, Any]],
        adjacency: int | None = None,
        also: Sequence[str] | None = None,
        altitude: Literal["entity", "scope", "root", "auto"] | None = None,
        at: str | None = None,
        budget: int | None = None,
        community: bool | None = None,
        current: bool | None = None,
        damping: float | None = None,
        decay: float | None = None,
        dedup: bool | None = None,
        direction: Literal["out", "in", "both"] | None = None,
        edge_weight: Sequence[str] | None = None,
        embed: bool | None = None,
        exclude: Sequence[str] | None = None,
        expand: int | None = None,
        expand_type: Sequence[str] | None = None,
        expansion: Literal["lend", "decay", "ppr"] | None = None,
        explain: bool | None = None,
        floor: Literal["answer", "maybe", "rest"] | None = None,
        follow: bool | None = None,
        format: Literal["yaml", "brief"] | None = None,
        fusion: Literal["convex", "rrf", "weighted-rrf", "score-norm"] | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        intent: Literal["auto", "why", "when", "entity", "general"] | None = None,
        limit: int | None = None,
        max_expand: int | None = None,
        now: str | None = None,
        order: Literal["rank", "time"] | None = None,
        pack: Literal["auto", "whole", "passages"] | None = None,
        passage_tokens: int | None = None,
        profile: str | None = None,
        receipt: bool | None = None,
        rerank: bool | None = None,
        rerank_top: int | None = None,
        rewrite: bool | Literal["multi", "hyde"] | None = None,
        rewrites: int | None = None,
        session: str | None = None,
        show: Sequence[Literal["times", "key", "content"]] | None = None,
        since: str | None = None,
        spelling: Literal["on", "off"] | None = None,
        summary_cap: int | None = None,
        time: str | None = None,
        tokenizer: Literal["estimate"] | None = None,
        type: Sequence[str] | None = None,
        unseen: bool | None = None,
        until: str | None = None,
        updated_from: str | None = None,
        updated_to: str | None = None,
        valid_at: str | None = None,
        weight: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
        zone: str | None = None,
    ) -> list[RecallBatchAnswer]:
        answer: list[RecallBatchAnswer] = await self._verb('recall_batch', locals())
        return answer

    async def remember(
        self,
        text: str,
        *,
        about: str | None = None,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        cue: Sequence[str] | None = None,
        dry_run: bool | None = None,
        embed: bool | None = None,
        entity: Sequence[str] | None = None,
        expect: str | None = None,
        expires: str | None = None,
        explain: bool | None = None,
        importance: int | None = None,
        message: str | None = None,
        property: str | None = None,
        source: Sequence[str] | None = None,
        strict: bool | None = None,
        supersedes: Sequence[str] | None = None,
        tag: Sequence[str] | None = None,
        time: str | None = None,
        type: str | None = None,
        valid_from: str | None = None,
        valid_to: str | None = None,
        without: Sequence[Literal["diff", "temporal", "entity", "keyword", "causal", "semantic"]] | None = None,
    ) -> RememberAnswer:
        answer: RememberAnswer = await self._verb('remember', locals())
        return answer

    async def remember_batch(
        self,
        *,
        lines: Sequence[Mapping[str, Any]],
        about: str | None = None,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        cue: Sequence[str] | None = None,
        dry_run: bool | None = None,
        embed: bool | None = None,
        entity: Sequence[str] | None = None,
        expect: str | None = None,
        expires: str | None = None,
        explain: bool | None = None,
        importance: int | None = None,
        message: str | None = None,
        property: str | None = None,
        source: Sequence[str] | None = None,
        strict: bool | None = None,
        supersedes: Sequence[str] | None = None,
        tag: Sequence[str] | None = None,
        time: str | None = None,
        type: str | None = None,
        valid_from: str | None = None,
        valid_to: str | None = None,
        without: Sequence[Literal["diff", "temporal", "entity", "keyword", "causal", "semantic"]] | None = None,
    ) -> list[RememberBatchAnswer]:
        answer: list[RememberBatchAnswer] = await self._verb('remember_batch', locals())
        return answer

    async def remote_redactions(
        self,
        name: str | None = None,
        cid: Sequence[str] | None = None,
        *,
        accept: bool | None = None,
        reject: bool | None = None,
        time: str | None = None,
    ) -> RemoteRedactionsAnswer | RedactionsClosed:
        answer: RemoteRedactionsAnswer | RedactionsClosed = await self._verb('remote_redactions', locals())
        return answer

    async def reset(
        self,
        *,
        expect: str | None = None,
        stage: str | None = None,
        time: str | None = None,
    ) -> ResetAnswer:
        answer: ResetAnswer = await self._verb('reset', locals())
        return answer

    async def restore(
        self,
        nodes: Sequence[str],
        rev: str | None = None,
        *,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        message: str | None = None,
        reason: str | None = None,
        time: str | None = None,
    ) -> RestoreAnswer | RestoreMarks:
        answer: RestoreAnswer | RestoreMarks = await self._verb('restore', locals())
        return answer

    async def retrieve(
        self,
        query: str | None = None,
        *,
        adjacency: int | None = None,
        also: Sequence[str] | None = None,
        altitude: Literal["entity", "scope", "root", "auto"] | None = None,
        at: str | None = None,
        budget: int | None = None,
        community: bool | None = None,
        current: bool | None = None,
        damping: float | None = None,
        decay: float | None = None,
        dedup: bool | None = None,
        direction: Literal["out", "in", "both"] | None = None,
        edge_weight: Sequence[str] | None = None,
        embed: bool | None = None,
        exclude: Sequence[str] | None = None,
        expand: int | None = None,
        expand_type: Sequence[str] | None = None,
        expansion: Literal["lend", "decay", "ppr"] | None = None,
        explain: bool | None = None,
        floor: Literal["answer", "maybe", "rest"] | None = None,
        follow: bool | None = None,
        format: Literal["yaml", "brief"] | None = None,
        fusion: Literal["convex", "rrf", "weighted-rrf", "score-norm"] | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        intent: Literal["auto", "why", "when", "entity", "general"] | None = None,
        limit: int | None = None,
        max_expand: int | None = None,
        now: str | None = None,
        order: Literal["rank", "time"] | None = None,
        pack: Literal["auto", "whole", "passages"] | None = None,
        passage_tokens: int | None = None,
        profile: str | None = None,
        receipt: bool | None = None,
        rerank: bool | None = None,
        rerank_top: int | None = None,
        rewrite: bool | Literal["multi", "hyde"] | None = None,
        rewrites: int | None = None,
        session: str | None = None,
        show: Sequence[Literal["times", "key", "content"]] | None = None,
        since: str | None = None,
        spelling: Literal["on", "off"] | None = None,
        summary_cap: int | None = None,
        time: str | None = None,
        tokenizer: Literal["estimate"] | None = None,
        type: Sequence[str] | None = None,
        unseen: bool | None = None,
        until: str | None = None,
        updated_from: str | None = None,
        updated_to: str | None = None,
        valid_at: str | None = None,
        weight: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
        zone: str | None = None,
    ) -> RetrieveAnswer:
        answer: RetrieveAnswer = await self._verb('retrieve', locals())
        return answer

    async def retrieve_batch(
        self,
        *,
        lines: Sequence[Mapping[str, Any]],
        adjacency: int | None = None,
        also: Sequence[str] | None = None,
        altitude: Literal["entity", "scope", "root", "auto"] | None = None,
        at: str | None = None,
        budget: int | None = None,
        community: bool | None = None,
        current: bool | None = None,
        damping: float | None = None,
        decay: float | None = None,
        dedup: bool | None = None,
        direction: Literal["out", "in", "both"] | None = None,
        edge_weight: Sequence[str] | None = None,
        embed: bool | None = None,
        exclude: Sequence[str] | None = None,
        expand: int | None = None,
        expand_type: Sequence[str] | None = None,
        expansion: Literal["lend", "decay", "ppr"] | None = None,
        explain: bool | None = None,
        floor: Literal["answer", "maybe", "rest"] | None = None,
        follow: bool | None = None,
        format: Literal["yaml", "brief"] | None = None,
        fusion: Literal["convex", "rrf", "weighted-rrf", "score-norm"] | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        intent: Literal["auto", "why", "when", "entity", "general"] | None = None,
        limit: int | None = None,
        max_expand: int | None = None,
        now: str | None = None,
        order: Literal["rank", "time"] | None = None,
        pack: Literal["auto", "whole", "passages"] | None = None,
        passage_tokens: int | None = None,
        profile: str | None = None,
        receipt: bool | None = None,
        rerank: bool | None = None,
        rerank_top: int | None = None,
        rewrite: bool | Literal["multi", "hyde"] | None = None,
        rewrites: int | None = None,
        session: str | None = None,
        show: Sequence[Literal["times", "key", "content"]] | None = None,
        since: str | None = None,
        spelling: Literal["on", "off"] | None = None,
        summary_cap: int | None = None,
        time: str | None = None,
        tokenizer: Literal["estimate"] | None = None,
        type: Sequence[str] | None = None,
        unseen: bool | None = None,
        until: str | None = None,
        updated_from: str | None = None,
        updated_to: str | None = None,
        valid_at: str | None = None,
        weight: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
        zone: str | None = None,
    ) -> list[RetrieveBatchAnswer]:
        answer: list[RetrieveBatchAnswer] = await self._verb('retrieve_batch', locals())
        return answer

    async def revert(
        self,
        rev: str,
        *,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        conflicts: Literal["stop", "newest", "ours", "theirs"] | None = None,
        dry_run: bool | None = None,
        expect: str | None = None,
        message: str | None = None,
        time: str | None = None,
    ) -> RevertAnswer:
        answer: RevertAnswer = await self._verb('revert', locals())
        return answer

    async def review(
        self,
        *,
        allow_secret: Sequence[str] | None = None,
        branch: str | None = None,
        drop: Sequence[str] | None = None,
        dry_run: bool | None = None,
        keep: Sequence[str] | None = None,
        limit: int | None = None,
        pin: Sequence[str] | None = None,
        rest_of: str | None = None,
        set: Sequence[str] | None = None,
        time: str | None = None,
    ) -> ReviewAnswer:
        answer: ReviewAnswer = await self._verb('review', locals())
        return answer

    async def rm(
        self,
        nodes: Sequence[str] | None = None,
        *,
        all: bool | None = None,
        branch: str | None = None,
        edge: Sequence[str] | None = None,
        expect: str | None = None,
        key: str | None = None,
        link: bool | None = None,
        stage: str | None = None,
        time: str | None = None,
    ) -> RmAnswer:
        answer: RmAnswer = await self._verb('rm', locals())
        return answer

    async def session_advance(
        self,
        name: str,
        *,
        time: str | None = None,
        to: str | None = None,
    ) -> SessionAdvanceAnswer:
        answer: SessionAdvanceAnswer = await self._verb('session_advance', locals())
        return answer

    async def session_end(
        self,
        name: str,
        *,
        time: str | None = None,
    ) -> SessionEndAnswer:
        answer: SessionEndAnswer = await self._verb('session_end', locals())
        return answer

    async def session_list(
        self,
    ) -> list[SessionListAnswer]:
        answer: list[SessionListAnswer] = await self._verb('session_list', locals())
        return answer

    async def session_log(
        self,
        name: str,
        *,
        limit: int | None = None,
    ) -> list[SessionLogAnswer]:
        answer: list[SessionLogAnswer] = await self._verb('session_log', locals())
        return answer

    async def session_replay(
        self,
        record: str,
    ) -> SessionReplayAnswer:
        answer: SessionReplayAnswer = await self._verb('session_replay', locals())
        return answer

    async def session_rm(
        self,
        name: str,
        *,
        time: str | None = None,
    ) -> SessionRmAnswer:
        answer: SessionRmAnswer = await self._verb('session_rm', locals())
        return answer

    async def session_start(
        self,
        name: str,
        *,
        at: str | None = None,
        follow: bool | None = None,
        time: str | None = None,
    ) -> SessionStartAnswer:
        answer: SessionStartAnswer = await self._verb('session_start', locals())
        return answer

    async def show(
        self,
        name: str | None = None,
        *,
        at: str | None = None,
        field: str | None = None,
        importance: bool | None = None,
        include: Sequence[Literal["forgotten", "superseded", "expired", "retired"]] | None = None,
        now: str | None = None,
        raw: bool | None = None,
        signatures: bool | None = None,
    ) -> ShowAnswer | ShowCommit | ShowEdge | ShowOperation | ShowBlock | Any:
        answer: ShowAnswer | ShowCommit | ShowEdge | ShowOperation | ShowBlock | Any = await self._verb('show', locals())
        return answer

    @overload
    async def stats(
        self,
        *,
        at: str | None = None,
        limit: int | None = None,
    ) -> StatsAnswer: ...

    @overload
    async def stats(
        self,
        *,
        at: str | None = None,
        limit: int | None = None,
        schema: bool | None = None,
    ) -> StatsAnswer | StatsSchema: ...

    async def stats(
        self,
        *,
        at: str | None = None,
        limit: int | None = None,
        schema: bool | None = None,
    ) -> StatsAnswer | StatsSchema:
        answer: StatsAnswer | StatsSchema = await self._verb('stats', locals())
        return answer

    async def status(
        self,
        *,
        stage: str | None = None,
    ) -> StatusAnswer:
        answer: StatusAnswer = await self._verb('status', locals())
        return answer

    async def switch(
        self,
        name: str | None = None,
        rev: str | None = None,
        *,
        create: bool | None = None,
        detach: bool | None = None,
        expect: str | None = None,
        force: bool | None = None,
        time: str | None = None,
    ) -> SwitchAnswer:
        answer: SwitchAnswer = await self._verb('switch', locals())
        return answer

    async def tag(
        self,
        name: str | None = None,
        rev: str | None = None,
        *,
        allow_secret: Sequence[str] | None = None,
        delete: bool | None = None,
        expect: str | None = None,
        force: bool | None = None,
        message: str | None = None,
        time: str | None = None,
    ) -> list[TagAnswer | TagRemoved]:
        answer: list[TagAnswer | TagRemoved] = await self._verb('tag', locals())
        return answer

    async def undo(
        self,
        op: str | None = None,
        *,
        expect: str | None = None,
        own: bool | None = None,
        redo: bool | None = None,
        time: str | None = None,
    ) -> UndoAnswer:
        answer: UndoAnswer = await self._verb('undo', locals())
        return answer

    async def version(
        self,
    ) -> VersionAnswer:
        answer: VersionAnswer = await self._verb('version', locals())
        return answer


ANSWERS = (
    'AddAnswer',
    'Beam',
    'BlameAnswer',
    'BlameField',
    'BranchAnswer',
    'BranchRemote',
    'BranchRemoved',
    'Change',
    'ChangeField',
    'Changed',
    'CherryPickAnswer',
    'CommitAnswer',
    'Community',
    'ConfigHalfLifeAnswer',
    'ConfigProfileAnswer',
    'Conflict',
    'ConsolidateAnswer',
    'ConsolidateDone',
    'ConsolidateProposal',
    'ConsolidateProposalDiffer',
    'Count',
    'Counts',
    'CuesWritten',
    'Date',
    'Diff',
    'DiffAnswer',
    'DiffStat',
    'Digest',
    'DroppedBy',
    'DroppedItem',
    'Edge',
    'EdgeType',
    'EmbedAnswer',
    'EmbedCuesAnswer',
    'EmbedCuesNode',
    'EmbedStatus',
    'ExploreAnswer',
    'ExploreCommunity',
    'ExploreCommunityMember',
    'ExploreNode',
    'ExploreNodeDetail',
    'ExploreNodeDetailEdge',
    'ExploreNodeDetailReason',
    'ExploreNodeDetailReasonEdge',
    'ExploreTag',
    'Field',
    'ForgetAnswer',
    'FsckAnswer',
    'FsckError',
    'GcAnswer',
    'Importance',
    'In',
    'Item',
    'Kept',
    'KeyVerifyAnswer',
    'Lane',
    'LeftOut',
    'LogAnswer',
    'LsAnswer',
    'LsEdges',
    'LsEdgesEdge',
    'LsNode',
    'MapAnswer',
    'MapDigest',
    'MapDigestText',
    'MapDigestWritten',
    'MapEntry',
    'MapEntryChanged',
    'MapFound',
    'MapRebuilt',
    'MapRebuiltWritten',
    'MapRebuiltWrittenFailed',
    'MapSince',
    'MapWritten',
    'Mark',
    'MarkAnswer',
    'MergeAnswer',
    'MergeState',
    'Missing',
    'Node',
    'OpLogAnswer',
    'OpRestoreAnswer',
    'OpShowAnswer',
    'OperationName',
    'PackRedactAnswer',
    'PackRedactionsAnswer',
    'PackRedactionsRedaction',
    'PackRefsAnswer',
    'Path',
    'PinAnswer',
    'Profile',
    'ProfilesChange',
    'PurgeAnswer',
    'PurgeFile',
    'PurgeHit',
    'PurgeRedacted',
    'PurgeShared',
    'Pushed',
    'Recall',
    'RecallAnswer',
    'RecallBatchAnswer',
    'RedactionsClosed',
    'Ref',
    'RefMove',
    'RememberAnswer',
    'RememberBatchAnswer',
    'RememberCandidate',
    'RememberLink',
    'RememberNearest',
    'RememberSimilar',
    'RememberSimilarDiffer',
    'RememberWarning',
    'RemoteRedactionsAnswer',
    'RemoteRedactionsRedaction',
    'Replaced',
    'Repository',
    'ResetAnswer',
    'RestoreAnswer',
    'RestoreMarks',
    'RetrieveAnswer',
    'RetrieveBatchAnswer',
    'RevertAnswer',
    'ReviewAnswer',
    'ReviewItem',
    'ReviewUndecided',
    'RmAnswer',
    'SecretWarning',
    'SessionAdvanceAnswer',
    'SessionEndAnswer',
    'SessionListAnswer',
    'SessionLogAnswer',
    'SessionReplayAnswer',
    'SessionReplayFirstDifference',
    'SessionReplayRedacted',
    'SessionRmAnswer',
    'SessionStartAnswer',
    'ShowAnswer',
    'ShowBlock',
    'ShowCommit',
    'ShowEdge',
    'ShowOperation',
    'Signal',
    'Signature',
    'Skipped',
    'Stage',
    'Stat',
    'StatsAnswer',
    'StatsEdge',
    'StatsEdgeType',
    'StatsIndex',
    'StatsIndexField',
    'StatsMark',
    'StatsSchema',
    'StatsSchemaEdgeType',
    'StatsSchemaProperty',
    'StatsStore',
    'StatusAnswer',
    'StatusFollowing',
    'StatusMerge',
    'StatusSynced',
    'SwitchAnswer',
    'TagAnswer',
    'TagRemoved',
    'Term',
    'Trace',
    'TraceLane',
    'UndoAnswer',
    'VersionAnswer',
    'Warning',
)
