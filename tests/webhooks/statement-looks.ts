import type { TenantTx, TransactionMode } from '../../server/db/database.ts'
import type { TestHub } from '../support/hub.ts'

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: PlanNode[]
}

export interface Look {
  /** Or the kind of the scan that needs none. */
  indexes: Set<string>
  /** Of tables, whether they were wanted or not. */
  rows: number
}

/** What the statements of the work look at, for the tenant `acme`: each is explained as it runs, and then runs. */
export async function looksOfStatements(
  hub: TestHub,
  mode: TransactionMode,
  work: (tx: TenantTx) => Promise<unknown>,
): Promise<Look> {
  const look: Look = { indexes: new Set(), rows: 0 }
  const visit = (node: PlanNode) => {
    for (const plan of node.Plans ?? []) visit(plan)
    if (node['Node Type'] === 'ModifyTable' || node['Node Type'] === 'Bitmap Heap Scan') return
    if (node['Relation Name'] === undefined && node['Node Type'] !== 'Bitmap Index Scan') return
    look.indexes.add(node['Index Name'] ?? node['Node Type'])
    const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
    look.rows += (node['Actual Rows'] + removed) * node['Actual Loops']
  }
  await hub.test.database.withTenant(
    'acme',
    async (tx) => {
      const query = async (statement: string | { text: string; values: unknown[] }, further?: unknown[]) => {
        const { text, values } = typeof statement === 'string' ? { text: statement, values: further ?? [] } : statement
        // To explain one that writes is to run it: it writes once all the same.
        await tx.client.query('savepoint explaining')
        const explained = await tx.client.query(`explain (analyze, format json) ${text}`, values)
        await tx.client.query('rollback to explaining')
        visit(explained.rows[0]['QUERY PLAN'][0].Plan)
        return tx.client.query(text, values)
      }
      await work({ tenantId: tx.tenantId, client: { query } } as unknown as TenantTx)
    },
    mode,
  )
  return look
}
