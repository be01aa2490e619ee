import type { DatabaseSync } from 'node:sqlite'
import { StartupError } from '../../server/startup-error.ts'
import { inTransaction } from './spool-database.ts'

/**
 * Binds a spool to the tenant and the Hub of its events; a later start must name the same. The address of the Hub may
 * change freely only while no request is without a response, because another Hub would not know its key.
 *
 * @param moved true if the operator states that it is the same Hub at another address
 * @throws StartupError
 */
export function bindSpool(database: DatabaseSync, tenant: string, hubUrl: string, moved: boolean): void {
  inTransaction(database, () => {
    const bound = Object.fromEntries(
      database
        .prepare('select name, value from binding')
        .all()
        .map(({ name, value }) => [name, value]),
    )
    if (bound.tenant !== undefined && bound.tenant !== tenant) {
      throw new StartupError(
        `The spool holds events of tenant ${bound.tenant}, not of ${tenant}.`,
        'Name that tenant with --tenant, or another directory with --spool.',
      )
    }
    if (bound.hub_url !== undefined && bound.hub_url !== hubUrl && !moved && hasDoubtfulBatch(database)) {
      throw new StartupError(
        `The spool has a request that ${bound.hub_url} may or may not have taken, so it cannot go to ${hubUrl} yet.`,
        'Add --hub-moved when it is the same Hub at a new address; else run with the former --hub-url until nothing is pending.',
      )
    }
    const bind = database.prepare(
      'insert into binding values (?, ?) on conflict (name) do update set value = excluded.value',
    )
    bind.run('tenant', tenant)
    bind.run('hub_url', hubUrl)
  })
}

function hasDoubtfulBatch(database: DatabaseSync): boolean {
  return database.prepare('select 1 from batches where doubtful_since_ms is not null limit 1').get() !== undefined
}
