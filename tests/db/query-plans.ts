import type pg from 'pg'

/** A node of `EXPLAIN (FORMAT JSON, VERBOSE)`. */
interface PlanNode {
  'Node Type': string
  Schema?: string
  'Relation Name'?: string
  Plans?: PlanNode[]
  [condition: string]: unknown
}

const conditionsOfScans = ['Index Cond', 'Recheck Cond', 'Filter', 'TID Cond'] as const

/** A session that plans as no data, no tenant and no partition were known: only what the statement itself says. */
export async function preparePlanner(superuser: pg.Client): Promise<void> {
  // With pruning on, a partition that no parameter reaches would be left out of the plan, and out of the check.
  await superuser.query('set plan_cache_mode = force_generic_plan; set enable_partition_pruning = off')
}

/**
 * Scans of tenant tables, parents and partitions alike, that nothing restricts to a tenant given as a parameter.
 * `superuser` is bound by no policy, so the plan shows what the statement alone asks for.
 */
export async function unboundScans(
  superuser: pg.Client,
  statement: string,
  tenantTables: ReadonlySet<string>,
): Promise<{ scans: number; unbound: string[] }> {
  await superuser.query(`prepare looked_at as ${statement}`)
  try {
    const { rows } = await superuser.query(
      `select cardinality(parameter_types) as count from pg_prepared_statements where name = 'looked_at'`,
    )
    const nulls = Array<string>(rows[0].count).fill('null').join(', ')
    const explained = await superuser.query(
      `explain (verbose, format json, costs off) execute looked_at${nulls ? `(${nulls})` : ''}`,
    )
    const nodes = nodesOf(explained.rows[0]['QUERY PLAN'][0].Plan)
    const scans = nodes.filter(
      (node) =>
        node.Schema === 'hub' && node['Node Type'] !== 'ModifyTable' && tenantTables.has(node['Relation Name']!),
    )
    const unbound = scans
      .filter((scan) => !isBound(scan))
      .map((scan) => `${scan['Node Type']} ${scan['Relation Name']}`)
    return { scans: scans.length, unbound }
  } finally {
    await superuser.query('deallocate looked_at')
  }
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

function isBound(scan: PlanNode): boolean {
  return conditionsOfScans.some((name) => conjunctsOf(String(scan[name] ?? '')).some(isTenantCondition))
}

function isTenantCondition(condition: string): boolean {
  return /^([\w"]+\.)*tenant_id = \$\d+$/.test(condition) || /^\$\d+ = ([\w"]+\.)*tenant_id$/.test(condition)
}

/** The conditions that all must hold: `((a = $1) AND (b OR c))` → `a = $1`, `b OR c`. */
export function conjunctsOf(expression: string): string[] {
  const text = withoutOuterParentheses(expression.trim())
  const parts: string[] = []
  let depth = 0
  let isQuoted = false
  let begin = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === "'") isQuoted = !isQuoted
    if (isQuoted) continue
    if (character === '(') depth += 1
    if (character === ')') depth -= 1
    if (depth === 0 && text.startsWith(' AND ', at)) {
      parts.push(text.slice(begin, at))
      begin = at + 5
    }
  }
  if (parts.length === 0) return [text]
  return [...parts, text.slice(begin)].flatMap(conjunctsOf)
}

function withoutOuterParentheses(text: string): string {
  if (!text.startsWith('(')) return text
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1
    if (text[at] === ')') depth -= 1
    if (depth === 0) return at === text.length - 1 ? withoutOuterParentheses(text.slice(1, -1)) : text
  }
  return text
}
