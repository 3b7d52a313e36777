// Written by clients/generate.py from the OpenAPI document of mnem. Changes are made there.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Arguments of operations by name. */
export interface Arguments {
  blame: { at?: string; field?: string[]; node: string };
  branch: {
    delete?: boolean;
    expect?: string;
    force?: boolean;
    move?: boolean;
    name?: string;
    rev?: string;
    time?: string;
  };
  consolidate: {
    accept?: boolean;
    allow_secret?: string[];
    at?: string;
    branch?: string;
    dry_run?: boolean;
    expect?: string;
    keep?: number;
    kind?: string[];
    limit?: number;
    message?: string;
    now?: string;
    picks?: string[];
    reason?: string;
    reject?: boolean;
    time?: string;
  };
  diff: { a?: string; b?: string; stage?: string; staged?: boolean; stat?: boolean; type?: string[] };
  explore: {
    adjacency?: number;
    at?: string;
    communities?: boolean;
    depth?: number;
    edge?: string[];
    in?: boolean;
    include?: ('forgotten' | 'superseded' | 'expired' | 'retired')[];
    limit?: number;
    out?: boolean;
    tags?: boolean;
    to?: string;
    topic?: string;
    type?: string[];
  };
  forget: {
    allow_secret?: string[];
    branch?: string;
    confirm?: number;
    dry_run?: boolean;
    expect?: string;
    message?: string;
    nodes?: string[];
    reason?: string;
    time?: string;
    type?: string[];
    until?: string;
    where?: string[];
  };
  log: {
    agent?: string[];
    at?: string;
    author?: string[];
    grep?: string;
    limit?: number;
    node?: string;
    oneline?: boolean;
    signatures?: boolean;
    since?: string;
    stat?: boolean;
    type?: string[];
    until?: string;
  };
  ls: {
    after?: string;
    all?: boolean;
    at?: string;
    edges?: boolean;
    include?: ('forgotten' | 'superseded' | 'expired' | 'retired')[];
    limit?: number;
    now?: string;
    sort?: string;
    sources?: boolean;
    type?: string[];
    where?: string[];
  };
  map: {
    allow_secret?: string[];
    at?: string;
    branch?: string;
    budget?: number;
    by?: string[];
    depth?: number;
    dry_run?: boolean;
    expect?: string;
    message?: string;
    rebuild?: boolean;
    resolve?: string;
    scope?: string;
    since?: string;
    text?: string;
    time?: string;
    write?: string;
  };
  mark: {
    allow_secret?: string[];
    branch?: string;
    by?: string;
    dry_run?: boolean;
    expect?: string;
    kind?: string;
    message?: string;
    nodes?: string[];
    now?: string;
    reason?: string;
    remove?: boolean;
    time?: string;
  };
  merge: {
    abort?: boolean;
    allow_secret?: string[];
    branch?: string;
    conflicts?: 'stop' | 'newest' | 'ours' | 'theirs';
    continue?: boolean;
    drop?: string;
    dry_run?: boolean;
    expect?: string;
    lines?: Record<string, Json>[];
    list?: boolean;
    message?: string;
    no_ff?: boolean;
    require_signed?: boolean;
    resolve?: string;
    rev?: string;
    take?: 'ours' | 'theirs' | 'base';
    time?: string;
  };
  op_log: { limit?: number };
  recall: {
    adjacency?: number;
    also?: string[];
    altitude?: 'entity' | 'scope' | 'root' | 'auto';
    at?: string;
    budget?: number;
    community?: boolean;
    current?: boolean;
    damping?: number;
    decay?: number;
    dedup?: boolean;
    direction?: 'out' | 'in' | 'both';
    edge_weight?: string[];
    embed?: boolean;
    exclude?: string[];
    expand?: number;
    expand_type?: string[];
    expansion?: 'lend' | 'decay' | 'ppr';
    explain?: boolean;
    floor?: 'answer' | 'maybe' | 'rest';
    follow?: boolean;
    format?: 'yaml' | 'brief';
    fusion?: 'convex' | 'rrf' | 'weighted-rrf' | 'score-norm';
    include?: ('forgotten' | 'superseded' | 'expired' | 'retired')[];
    intent?: 'auto' | 'why' | 'when' | 'entity' | 'general';
    limit?: number;
    max_expand?: number;
    now?: string;
    order?: 'rank' | 'time';
    pack?: 'auto' | 'whole' | 'passages';
    passage_tokens?: number;
    profile?: string;
    query?: string;
    receipt?: boolean;
    rerank?: boolean;
    rerank_top?: number;
    rewrite?: boolean | 'multi' | 'hyde';
    rewrites?: number;
    session?: string;
    show?: ('times' | 'key' | 'content')[];
    since?: string;
    spelling?: 'on' | 'off';
    summary_cap?: number;
    time?: string;
    tokenizer?: 'estimate';
    type?: string[];
    unseen?: boolean;
    until?: string;
    updated_from?: string;
    updated_to?: string;
    valid_at?: string;
    weight?: string[];
    where?: string[];
    zone?: string;
  };
  remote_redactions: { accept?: boolean; cid?: string[]; name?: string; reject?: boolean; time?: string };
  restore: {
    allow_secret?: string[];
    branch?: string;
    dry_run?: boolean;
    expect?: string;
    message?: string;
    nodes: string[];
    reason?: string;
    rev?: string;
    time?: string;
  };
  review: {
    allow_secret?: string[];
    branch?: string;
    drop?: string[];
    dry_run?: boolean;
    keep?: string[];
    limit?: number;
    pin?: string[];
    rest_of?: string;
    set?: string[];
    time?: string;
  };
  session_list: {  };
  session_log: { limit?: number; name: string };
  session_replay: { record: string };
  show: {
    at?: string;
    field?: string;
    importance?: boolean;
    include?: ('forgotten' | 'superseded' | 'expired' | 'retired')[];
    name?: string;
    now?: string;
    raw?: boolean;
    signatures?: boolean;
  };
  stats: { at?: string; limit?: number; schema?: boolean };
  undo: { expect?: string; op?: string; own?: boolean; redo?: boolean; time?: string };
}

/** Answers of operations by name; unions have one form for each use. */
export interface Answers {
  blame: {
    fields: {
      agent: string | null;
      author: string;
      commit: string;
      field: string;
      git?: string | null;
      time: string;
    }[];
    id: string;
    key: string | null;
  };
  branch: ({
    commit: string | null;
    current: boolean;
    name: string;
    remotes?: { ahead: number; behind: number; commit: string; remote: string }[];
  } | { commit: string; removed: string })[];
  consolidate: {
    commit: string | null;
    declined: number;
    memories: number;
    more: number;
    now: string;
    proposals: {
      differ?: string;
      differs?: { a: string; b: string; kind: string }[];
      id: string;
      importance?: {
        age_seconds: number;
        base: number;
        decay: number;
        half_life_days: number;
        importance: number;
        linked: number;
        links: number;
        use: number;
        uses: number;
        value: number;
      };
      kind: 'expired' | 'duplicate' | 'contradiction' | 'update' | 'tag' | 'low' | 'isolated';
      names: string[];
      nodes: string[];
      settle?: string;
      similarity?: number;
      spellings?: string[];
      tag?: string;
      why: string;
    }[];
  } | {
    branch: string;
    commit: string | null;
    dry_run: boolean;
    graph: string | null;
    marked: string[];
    no_change: boolean;
    picked: {
      differ?: string;
      differs?: { a: string; b: string; kind: string }[];
      id: string;
      importance?: {
        age_seconds: number;
        base: number;
        decay: number;
        half_life_days: number;
        importance: number;
        linked: number;
        links: number;
        use: number;
        uses: number;
        value: number;
      };
      kind: 'expired' | 'duplicate' | 'contradiction' | 'update' | 'tag' | 'low' | 'isolated';
      names: string[];
      nodes: string[];
      settle?: string;
      similarity?: number;
      spellings?: string[];
      tag?: string;
      why: string;
    }[];
    retagged: string[];
    unmarked: string[];
  };
  diff: {
    counts: {
      edges: { added: number; changed: number; removed: number };
      nodes: { added: number; changed: number; removed: number };
    };
    edges: {
      change: 'added' | 'changed' | 'removed';
      dst: string;
      dst_key: string | null;
      fields: { field: string; new: Json; old: Json }[];
      id: string;
      key: string | null;
      src: string;
      src_key: string | null;
      type: string;
    }[];
    from: string | null;
    nodes: {
      change: 'added' | 'changed' | 'removed';
      fields: { field: string; new: Json; old: Json }[];
      id: string;
      key: string | null;
      type: string;
    }[];
    profiles?: {
      changed: {
        fields: { field: string; new: Json; old: Json }[];
        kind: 'added' | 'changed' | 'removed';
        name: string;
      }[];
      default: { field: string; new: Json; old: Json } | null;
      fields?: { field: string; new: Json; old: Json }[];
    };
    stage?: string;
    title?: string;
    to: string | null;
  } | {
    counts: {
      edges: { added: number; changed: number; removed: number };
      nodes: { added: number; changed: number; removed: number };
    };
    edge_types: { added: number; changed: number; removed: number; type: string }[];
    from: string | null;
    node_types: { added: number; changed: number; removed: number; type: string }[];
    stage?: string;
    to: string | null;
  };
  explore: {
    commit: string | null;
    communities?: {
      members: { id: string; key: string | null; node_type: string | null; summary: string | null; weight: number }[];
      number: number;
      size: number;
      title: string;
    }[];
    cut: number;
    more: number;
    node: { id: string; key: string | null; summary: string | null; type: string } | null;
    nodes: {
      edges?: {
        in: {
          edge: string;
          id: string;
          key: string | null;
          node_type: string | null;
          summary: string | null;
          type: string;
          weight: number;
        }[];
        more_in: number;
        more_out: number;
        out: {
          edge: string;
          id: string;
          key: string | null;
          node_type: string | null;
          summary: string | null;
          type: string;
          weight: number;
        }[];
      };
      hops: number;
      id: string;
      key: string | null;
      reasons: {
        edge?: { edge: string; forward: boolean; from: string; to: string; type: string };
        kind: string;
        names?: string[];
        score: number;
      }[];
      score: number;
      summary: string | null;
      type: string;
      why: string | null;
    }[];
    tags?: { from: string[]; in_text: boolean; score: number; tag: string }[];
  };
  forget: {
    already: string[];
    branch: string;
    commit: string | null;
    dry_run: boolean;
    graph: string | null;
    marked: string[];
    no_change: boolean;
    state: string | null;
    unmarked: string[];
    warnings?: {
      code: 'secret' | 'secrets_not_listed' | 'not_searched';
      field: string;
      file: string | null;
      item: string | null;
      line: number | null;
      message: string;
      remedy: string;
      rule: string;
    }[];
  };
  log: {
    agent: string | null;
    author: string;
    commit: string;
    edges: { added: number; changed: number; removed: number };
    git?: string | null;
    graph: string;
    message: string;
    nodes: { added: number; changed: number; removed: number };
    parents: string[];
    profiles?: string[];
    signature?: {
      key: string | null;
      name: string | null;
      reason: string | null;
      signature: 'signed' | 'untrusted' | 'unsigned' | 'revoked' | 'bad';
      trust: 'trusted' | 'untrusted' | 'revoked' | null;
    };
    stat?: {
      edge_types: { added: number; changed: number; removed: number; type: string }[];
      node_types: { added: number; changed: number; removed: number; type: string }[];
    };
    task: string | null;
    time: string;
    title?: string;
  }[];
  ls: {
    commit: string | null;
    next: string | null;
    nodes: {
      cid: string;
      context: string | null;
      created: string;
      cues?: string[];
      id: string;
      key: string | null;
      mark: { actor: string; by: string | null; reason: string | null; state: string; time: string } | null;
      props: Record<string, Json>;
      sources: string[];
      summary: string | null;
      type: string;
      updated: string | null;
      validFrom: string | null;
      validTo: string | null;
    }[];
    others: boolean;
  } | {
    commit: string | null;
    edges: {
      cid: string;
      created: string;
      dst: string;
      dst_key: string | null;
      id: string;
      key: string | null;
      mark: { actor: string; by: string | null; reason: string | null; state: string; time: string } | null;
      props: Record<string, Json>;
      sources: string[];
      src: string;
      src_key: string | null;
      type: string;
      validFrom: string | null;
      validTo: string | null;
      weight: number;
    }[];
    next: string | null;
  };
  map: {
    commit: string | null;
    digest?: {
      above: (string | null)[];
      expired: string[];
      facts: number;
      id: string | null;
      kind: string;
      level: number;
      name: string | null;
      refused: number;
      sem: string;
      source: string;
      text: { fact: string; text: string | null }[];
      title: string | null;
      tokens: number;
      written: { model: string; text: string | null } | null;
    };
    entries: {
      changed: { id: string; state: string; title: string | null }[];
      created: string | null;
      depth: number;
      facts: number;
      id: string | null;
      kind: string;
      name: string | null;
      scopes: number;
      source: string;
      title: string | null;
      tokens: number;
      type: string;
    }[];
    found?: {
      distance: number;
      id: string | null;
      kind: string;
      name: string | null;
      sem: string;
      title: string | null;
    }[];
    more: number;
    printed: string | null;
    rebuilt?: {
      facts: number;
      found: boolean;
      made: number;
      read: number;
      root: string | null;
      scopes: number;
      source: string;
      texts: number;
      written?: {
        calls: number;
        commit: string | null;
        dropped: number;
        dry_run: boolean;
        failed: { error: string; id: string | null }[];
        left: number;
        model: string;
        most: number;
        tokens: number;
        written: number;
      };
    };
    since: {
      added: number;
      changed: number;
      commit: string | null;
      more: boolean;
      read: number;
      removed: number;
    } | null;
    tokens: number;
    written?: {
      branch: string;
      dropped: number;
      dry_run: boolean;
      id: string | null;
      model: string;
      name: string | null;
      no_change: boolean;
      source: string;
      tokens: number;
      warnings?: {
        code: 'secret' | 'secrets_not_listed' | 'not_searched';
        field: string;
        file: string | null;
        item: string | null;
        line: number | null;
        message: string;
        remedy: string;
        rule: string;
      }[];
    };
  };
  mark: {
    already: string[];
    branch: string;
    commit: string | null;
    dry_run: boolean;
    graph: string | null;
    marked: string[];
    no_change: boolean;
    state: string | null;
    unmarked: string[];
    warnings?: {
      code: 'secret' | 'secrets_not_listed' | 'not_searched';
      field: string;
      file: string | null;
      item: string | null;
      line: number | null;
      message: string;
      remedy: string;
      rule: string;
    }[];
  };
  merge: {
    branch: string;
    commit: string | null;
    conflicts: {
      base: string | null;
      fields: { base: Json; field: string; ours: Json; theirs: Json }[];
      item: string;
      kind: 'edit_edit' | 'add_add' | 'delete_modify' | 'end_removed' | 'circle';
      label: string;
      ours: string | null;
      resolution: 'ours' | 'theirs' | 'base' | 'lines' | null;
      theirs: string | null;
    }[];
    dry_run: boolean;
    edges: { added: number; changed: number; removed: number };
    fast_forward: boolean;
    graph: string | null;
    no_change: boolean;
    nodes: { added: number; changed: number; removed: number };
    parents: string[];
    vectors_dropped: number;
    warnings?: {
      code: 'secret' | 'secrets_not_listed' | 'not_searched';
      field: string;
      file: string | null;
      item: string | null;
      line: number | null;
      message: string;
      remedy: string;
      rule: string;
    }[];
  } | {
    branch: string | null;
    conflicts: {
      base: string | null;
      fields: { base: Json; field: string; ours: Json; theirs: Json }[];
      item: string;
      kind: 'edit_edit' | 'add_add' | 'delete_modify' | 'end_removed' | 'circle';
      label: string;
      ours: string | null;
      resolution: 'ours' | 'theirs' | 'base' | 'lines' | null;
      theirs: string | null;
    }[];
    kept: { branch: string; commit: string; ref: string }[];
    ours: string | null;
    theirs: string | null;
    vectors_dropped: number;
    verb: 'merge' | 'revert' | 'cherry-pick' | null;
  };
  op_log: {
    actor: string;
    command: string[];
    oldest?: boolean;
    op: string;
    redoes: string | null;
    refs: { from: string | null; ref: string; to: string | null }[];
    seq: number;
    since?: { op: string; seq: number };
    time: string;
    undoes: string | null;
    undone?: boolean;
  }[];
  recall: {
    because?: string;
    candidates_seen: number;
    commit: string;
    covered?: number;
    dates?: { from: string | null; to: string | null }[];
    digests?: {
      band?: 'answer' | 'maybe' | 'rest';
      covers: string[];
      digest: string;
      facts: number;
      found: number;
      rendered: string;
      score: number;
      source: string;
      tokens: number;
    }[];
    dropped: number;
    dropped_by: { budget: number; duplicate: number };
    dropped_items?: { id: string; reason: string; repeats: string | null; tokens: number }[];
    intent?: 'why' | 'when' | 'entity' | 'general';
    items: {
      band?: 'answer' | 'maybe' | 'rest';
      beam?: { hops: number; path: { edge: string | null; forward: boolean; id: string }[]; seed: string };
      community?: { number: number; seed: string; size: number };
      contradicts?: string;
      hops?: number | null;
      id: string;
      key: string | null;
      lanes: { lane: string; rank: number; score: number; share?: number; weight?: number }[];
      path?: { edge: string | null; forward: boolean; id: string }[];
      rank: number;
      rendered: string;
      replaced?: { actor: string; by: string; time: string };
      repository?: 'project' | 'global';
      score: number;
      seed?: string | null;
      signals?: { entity: number; graph: number; keyword: number; similarity: number };
      terms?: { added?: boolean; read_as?: string; score: number; term: string }[];
      tier?: number;
      tokens: number;
      type: string;
      why?: string | null;
    }[];
    missing?: { kind: number | 'word' | 'name' | 'date' | 'phrase' | 'negation'; text: string }[];
    profile?: string;
    qid?: string;
    query: string;
    recall?: {
      depth: number;
      visited: number;
      visited_limit: number;
      weights: { entity: number; graph: number; keyword: number; similarity: number };
      width: number;
    };
    receipt: string | null;
    repositories?: { commit: string | null; items: number; repository: 'project' | 'global'; share: number }[];
    tokens_budget: number;
    tokens_used: number;
    trace?: {
      fusion: string;
      lanes: {
        best: number;
        found: number;
        lane: string;
        left_out: { exclude: number; marks: number; time: number; type: number; where: number };
        passed: number;
        weight: number;
        worst: number;
      }[];
      stages: { micros: number; stage: string }[];
    };
    verdict?: 'known' | 'unsure' | 'unknown';
    warnings: { code: string; message: string; remedy: string; repository?: 'project' | 'global' }[];
  };
  remote_redactions: {
    redactions: {
      actor: string | null;
      cid: string;
      decision: 'waiting' | 'rejected' | 'accepted';
      key: string | null;
      reason: string | null;
      record: string;
      remote: string | null;
      time: string;
      what: 'node' | 'content' | 'embedding' | 'digest' | 'query' | 'message' | 'edge' | 'mark';
    }[];
    remote: string | null;
  } | {
    closed: string[];
    erased: string[];
    erasure_denied?: string | null;
    erasure_pending: boolean;
    remote: string;
    waiting: number;
  };
  restore: {
    branch: string;
    changes?: {
      change: 'added' | 'changed' | 'removed';
      dst?: string;
      fields: { field: string; new: Json; old: Json }[];
      id: string;
      item: 'node' | 'edge';
      key?: string | null;
      src?: string;
      type: string;
    }[];
    commit: string | null;
    dry_run: boolean;
    duplicates: number;
    edges: { added: number; changed: number; removed: number };
    graph: string | null;
    no_change: boolean;
    nodes: { added: number; changed: number; removed: number };
    parents: string[];
    rebased?: boolean;
    unchanged: number;
    unembedded?: number;
    warnings?: {
      code: 'secret' | 'secrets_not_listed' | 'not_searched';
      field: string;
      file: string | null;
      item: string | null;
      line: number | null;
      message: string;
      remedy: string;
      rule: string;
    }[];
  } | {
    already: string[];
    branch: string;
    commit: string | null;
    dry_run: boolean;
    graph: string | null;
    marked: string[];
    no_change: boolean;
    state: string | null;
    unmarked: string[];
    warnings?: {
      code: 'secret' | 'secrets_not_listed' | 'not_searched';
      field: string;
      file: string | null;
      item: string | null;
      line: number | null;
      message: string;
      remedy: string;
      rule: string;
    }[];
  };
  review: {
    already: string[];
    branch: string;
    commit: string | null;
    dropped: string[];
    dry_run: boolean;
    edited: string[];
    head: string | null;
    items: {
      created: string;
      id: string;
      key: string | null;
      pinned: boolean;
      sources: string[];
      state: string | null;
      text: string;
      type: string;
    }[];
    kept: string[];
    left: number;
    pinned: string[];
    since: string | null;
    undecided: {
      differ: string;
      earlier: {
        created: string;
        id: string;
        key: string | null;
        pinned: boolean;
        sources: string[];
        state: string | null;
        text: string;
        type: string;
      };
      later: {
        created: string;
        id: string;
        key: string | null;
        pinned: boolean;
        sources: string[];
        state: string | null;
        text: string;
        type: string;
      };
      settle: string;
    }[];
    warnings?: {
      code: 'secret' | 'secrets_not_listed' | 'not_searched';
      field: string;
      file: string | null;
      item: string | null;
      line: number | null;
      message: string;
      remedy: string;
      rule: string;
    }[];
  };
  session_list: {
    actor: string;
    agent: string | null;
    commit: string | null;
    ended: boolean;
    follow: boolean;
    of: string;
    records: number;
    session: string;
    task: string | null;
    time: string;
  }[];
  session_log: {
    actor: string;
    commit: string | null;
    event: string;
    items: number | null;
    query: string | null;
    receipt: string | null;
    record: string;
    time: string;
    title: string | null;
    tokens: number | null;
  }[];
  session_replay: {
    first_difference: { field: string; item: number | null; new: string; number: number; old: string; receipt: string } | null;
    identical: boolean | null;
    receipts: number;
    redacted?: {
      actor: string;
      cid: string;
      node: string | null;
      reason: string | null;
      time: string;
      what: 'node' | 'content' | 'embedding' | 'digest' | 'query' | 'message' | 'edge' | 'mark';
    }[];
    session: string | null;
  };
  show: {
    cid: string;
    commit: string | null;
    content: string | null;
    context: string | null;
    created: string;
    cues?: string[];
    id: string;
    importance?: {
      age_seconds: number;
      base: number;
      decay: number;
      half_life_days: number;
      importance: number;
      linked: number;
      links: number;
      use: number;
      uses: number;
      value: number;
    };
    in: {
      edge: string;
      id: string;
      key: string | null;
      node_type: string | null;
      summary: string | null;
      type: string;
      weight: number;
    }[];
    key: string | null;
    mark: { actor: string; by: string | null; reason: string | null; state: string; time: string } | null;
    media: string | null;
    more_in: number;
    more_out: number;
    now?: string | null;
    out: {
      edge: string;
      id: string;
      key: string | null;
      node_type: string | null;
      summary: string | null;
      type: string;
      weight: number;
    }[];
    props: Record<string, Json>;
    sources: string[];
    summary: string | null;
    type: string;
    updated: string | null;
    validFrom: string | null;
    validTo: string | null;
  } | {
    agent: string | null;
    author: string;
    commit: string;
    diff: {
      counts: {
        edges: { added: number; changed: number; removed: number };
        nodes: { added: number; changed: number; removed: number };
      };
      edges: {
        change: 'added' | 'changed' | 'removed';
        dst: string;
        dst_key: string | null;
        fields: { field: string; new: Json; old: Json }[];
        id: string;
        key: string | null;
        src: string;
        src_key: string | null;
        type: string;
      }[];
      from: string | null;
      nodes: {
        change: 'added' | 'changed' | 'removed';
        fields: { field: string; new: Json; old: Json }[];
        id: string;
        key: string | null;
        type: string;
      }[];
      profiles?: {
        changed: {
          fields: { field: string; new: Json; old: Json }[];
          kind: 'added' | 'changed' | 'removed';
          name: string;
        }[];
        default: { field: string; new: Json; old: Json } | null;
        fields?: { field: string; new: Json; old: Json }[];
      };
      stage?: string;
      title?: string;
      to: string | null;
    };
    edges: { added: number; changed: number; removed: number };
    git?: string | null;
    graph: string;
    message: string;
    nodes: { added: number; changed: number; removed: number };
    parents: string[];
    profiles?: string[];
    signature?: {
      key: string | null;
      name: string | null;
      reason: string | null;
      signature: 'signed' | 'untrusted' | 'unsigned' | 'revoked' | 'bad';
      trust: 'trusted' | 'untrusted' | 'revoked' | null;
    };
    stat?: {
      edge_types: { added: number; changed: number; removed: number; type: string }[];
      node_types: { added: number; changed: number; removed: number; type: string }[];
    };
    task: string | null;
    time: string;
    title?: string;
  } | {
    cid: string;
    created: string;
    dst: string;
    dst_key: string | null;
    id: string;
    key: string | null;
    mark: { actor: string; by: string | null; reason: string | null; state: string; time: string } | null;
    props: Record<string, Json>;
    sources: string[];
    src: string;
    src_key: string | null;
    type: string;
    validFrom: string | null;
    validTo: string | null;
    weight: number;
  } | {
    actor: string;
    command: string[];
    oldest?: boolean;
    op: string;
    redoes: string | null;
    refs: { from: string | null; ref: string; to: string | null }[];
    seq: number;
    since?: { op: string; seq: number };
    time: string;
    undoes: string | null;
    undone?: boolean;
  } | { cid: string; data: Json; kind: string | null; size: number } | Json;
  stats: {
    agents: Record<string, Json>;
    commit: string | null;
    edge_types: { count: number; type: string }[];
    edges: { by_type: Record<string, Json>; total: number };
    embeddings: number;
    graph: string | null;
    index: {
      fields: { field: string; nodes: number; terms: number }[];
      manifest: string | null;
      nodes: number;
      segments: number;
      terms: number;
    };
    marks: { by_state: Record<string, Json>; total: number };
    node_types: { count: number; type: string }[];
    nodes: { by_type: Record<string, Json>; total: number };
    store: {
      block_bytes: number;
      blocks: number;
      branches: number;
      bytes: number;
      derived_blocks: number;
      derived_bytes: number;
      disk_bytes: number;
      operations: number;
      tags: number;
    };
  } | {
    commit: string | null;
    edge_types: {
      count: number;
      from: { count: number; type: string }[];
      more_from: number;
      more_to: number;
      to: { count: number; type: string }[];
      type: string;
    }[];
    edges: number;
    more_edge_types: number;
    more_node_types: number;
    more_properties: number;
    node_types: { count: number; type: string }[];
    nodes: number;
    properties: {
      count: number;
      examples: Json[];
      kinds: string[];
      more_types: number;
      name: string;
      types: { count: number; type: string }[];
    }[];
    untold: number;
  };
  undo: {
    command: string[];
    did: 'undone' | 'redone' | 'restored';
    of: { op: string; seq: number };
    op: string | null;
    pushed: { branch: string; commits: string; remote: string }[];
    refs: { from: string | null; ref: string; to: string | null }[];
    skipped: { command: string[]; op: string; seq: number }[];
    skipped_all: number;
  };
}
