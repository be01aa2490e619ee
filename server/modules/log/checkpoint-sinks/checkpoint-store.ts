import type { Config } from '../../../config.ts'
import { readTenant } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { ModuleParts } from '../../../module-parts.ts'
import { createOutbound, type Outbound } from '../../../outbound/outbound.ts'
import type { LogHead, LostLog, StoredCheckpoints } from '../log-types.ts'
import { openCheckpointFolder } from './checkpoint-file.ts'
import { CheckpointPublisher } from './checkpoint-publisher.ts'
import type { PutAside, StoredCheckpoint } from './checkpoint-types.ts'
import { openCheckpointWebhook } from './checkpoint-webhook.ts'
import { createConsistencyCheck } from './consistency-check.ts'
import { createEmptiedLogs, type Retirement } from './known-logs.ts'

export type CheckpointStore = ReturnType<typeof openCheckpointStore>

/** Opens the sinks of `HUB_CHECKPOINT_SINK` for signed checkpoints outside of the database. */
export function openCheckpointStore(
  deps: Pick<ModuleParts, 'database' | 'directory' | 'logs' | 'events' | 'log'> & {
    config: Pick<Config, 'checkpointSinks' | 'environment'>
  },
) {
  const { config, database, directory, logs, events } = deps
  const files = config.checkpointSinks.filter((sink) => sink.kind === 'file')
  const folders = files.map((sink) => openCheckpointFolder(sink.directory))
  const webhooks = config.checkpointSinks.filter((sink) => sink.kind === 'webhook')
  const outbounds = webhooks.map((sink) => outboundTo(sink.url, config.environment))
  const sinks = [...folders, ...webhooks.map((sink, i) => openCheckpointWebhook(sink.url, outbounds[i]!))]

  async function* storedHeads(): AsyncGenerator<{ tenant: Tenant; head: LogHead }> {
    for (const slug of await directory.slugs()) {
      const tenant = await directory.find(slug, { evenSuspended: true })
      const head = await readTenant(database, slug, (tx) => logs.head(tx))
      if (tenant && head) yield { tenant, head }
    }
  }

  async function newest(logName: string): Promise<{ treeSize: number; checkpoint: string } | undefined> {
    const found = await Promise.all(folders.map((folder) => folder.newest(logName)))
    const largest = found.reduce<StoredCheckpoint | undefined>(
      (best, each) => (each && each.tree_size > (best?.tree_size ?? -1) ? each : best),
      undefined,
    )
    return largest && { treeSize: largest.tree_size, checkpoint: largest.checkpoint }
  }

  const continues = createConsistencyCheck(deps)
  const emptiedLogs = createEmptiedLogs(deps)

  const keeper = new CheckpointPublisher({ ...deps, sinks, storedHeads, continues })
  events.on('headSigned', ({ tenant, head }) => keeper.headSigned(tenant, head))

  const kept: StoredCheckpoints = {
    newest,
    async some(logName, count) {
      const found = await Promise.all(folders.map((folder) => folder.some(logName, count)))
      return found.flat().map((kept) => ({ treeSize: kept.tree_size, checkpoint: kept.checkpoint }))
    },
    async near(logName, time) {
      const found = await Promise.all(folders.map((folder) => folder.near(logName, time)))
      const kept = found.flat().map((stored) => ({ treeSize: stored.tree_size, checkpoint: stored.checkpoint }))
      return kept.sort((one, other) => one.treeSize - other.treeSize)
    },
    async lostLogs() {
      // The lists are read first: a log that is added meanwhile has its tenant and its rows by then.
      const expected = (await Promise.all(folders.map(({ known }) => known.expected()))).flat()
      if (expected.length === 0) return []
      const tenantLogs = new Set(await directory.logNames())
      const emptied = await emptiedLogs()
      return expected.flatMap(({ log_name, hasFile }): LostLog[] => {
        if (!tenantLogs.has(log_name)) return [{ log_name, problem: 'no_tenant' }]
        if (emptied.has(log_name)) return [{ log_name, problem: 'no_rows' }]
        return hasFile ? [] : [{ log_name, problem: 'no_file' }]
      })
    },
  }

  return {
    keeper,
    ...kept,
    /** Returns the paths of a log's files, whether or not they exist. */
    filesOf: (logName: string) => folders.map((folder) => folder.fileOf(logName)),
    /**
     * Renames the files of a log that was larger before its database was set back on purpose, so that later checkpoints
     * do not count as forgeries.
     *
     * @param mark part of the new names, such as a time
     */
    async putAside(logName: string, treeSize: number, mark: string): Promise<PutAside[]> {
      const aside: PutAside[] = []
      for (const folder of folders) {
        const kept = await folder.newest(logName)
        if (kept === undefined || kept.tree_size <= treeSize) continue
        const file = await folder.putAside(logName, mark)
        if (file !== undefined) aside.push({ log_name: logName, tree_size: kept.tree_size, file })
      }
      return aside
    },
    /**
     * Stores a last checkpoint, and the statement that the log ended with it. Returns the number of folders that contain
     * both.
     */
    async retire(tenant: Tenant, last: StoredCheckpoint, retirement: Retirement): Promise<number> {
      for (const folder of folders) {
        await folder.keep(last, (earlier, later) => continues(tenant, earlier, later))
        await folder.known.note(retirement)
      }
      return folders.length
    },
    close: async () => {
      await Promise.all(outbounds.map((outbound) => outbound.close()))
    },
  }
}

/** Creates an outbound client for the operator's own address, which may be in a private network. */
function outboundTo(url: string, environment: Config['environment']): Outbound {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  return createOutbound({ environment, outboundAllow: [host] })
}
