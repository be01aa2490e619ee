import { storedText } from './stored-text.ts'

/**
 * Parts of statements about records. `r` is hub.records, `s` the state of the record, `c` its place in the seal; $1 is
 * the tenant. OFFSET keeps one look-up per record: the planner may execute a plain join as a scan of the states, or the
 * seals, of all records.
 */

export const lookUpState = `
  left join lateral (
    select revision, purged_at, hard_delete_after
    from hub.record_states where tenant_id = $1 and record_id = r.record_id offset 0
  ) s on true`

const columnsOfPlace = `r.record_id, encode(r.provenance_hash, 'hex') as provenance_hash, r.seal_id, r.leaf_index,
      c.key_id, c.sealed_at, c.leaves_bytes, c.cosign_parts, c.leaves`

const columnsBesideText = `${columnsOfPlace}, r.record_type, r.cost_micros::text as cost_micros`

const columnsToCompare = `r.tenant_id, r.created_by, r.skill_id, r.archetype_id, r.user_id, r.event_kind,
      r.trace_id, r.session_id, encode(r.salt, 'hex') as salt`

/** The columns of the types of record-query-types.ts. */
export const recordColumns = {
  place: columnsOfPlace,
  all: `${columnsBesideText}, ${columnsToCompare}, ${storedText('r')} as canonical, s.purged_at, s.revision`,
  /** For queries that join the state, with an expression for the text. */
  answered: (canonical: string) => `${columnsBesideText}, r.purged_at, ${canonical} as canonical`,
  stored: (canonical: string) =>
    `${columnsBesideText}, ${columnsToCompare}, r.purged_at, r.revision, ${canonical} as canonical`,
}

/** Levels of the tree whose nodes a seal stores (`upperNodesOf`). A full tree of 64 leaves has its root at level 6. */
const upperLevels = [2, 3, 4, 5]

/** Returns the index of the record's sibling at a level. It is on the path if the level contains it. */
const siblingAt = (level: number) => `((r.leaf_index::integer >> ${level}) # 1)`

const nodesAt = (level: number) => `((t.leaf_count + ${2 ** level - 1}) >> ${level})`

function upperNodeAt(level: number): string {
  const before = upperLevels.filter((lower) => lower < level).map(nodesAt)
  const place = [...before, siblingAt(level)].join(' + ')
  return `case when ${siblingAt(level)} < ${nodesAt(level)} then substr(t.upper_nodes, 32 * (${place}) + 1, 32) else '' end`
}

/** Selects from each seal only the parts that the record needs: a third of a kilobyte instead of three. */
export const lookUpPlace = `
  left join lateral (
    select t.key_id, t.sealed_at::text as sealed_at, t.leaves_bytes,
      case when octet_length(r.salt) = 16 and octet_length(t.signature) = 64
        then r.salt || t.signature || coalesce(
          substr(t.leaves, 32 * (r.leaf_index::integer & -4) + 1, 128)
          || ${upperLevels.map(upperNodeAt).join('\n          || ')}, '') end as cosign_parts,
      case when t.upper_nodes is null then t.leaves end as leaves
    from (
      select key_id, sealed_at, signature, leaves, upper_nodes, octet_length(leaves) as leaves_bytes,
        octet_length(leaves) / 32 as leaf_count
      from hub.seals where tenant_id = $1 and seal_id = r.seal_id offset 0
    ) t
  ) c on true`
