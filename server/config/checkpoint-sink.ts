import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Describes a checkpoint sink: a place for signed states of the logs, apart from the database. */
export type CheckpointSinkSettings =
  | { readonly kind: 'file' /** The absolute path. */; readonly directory: string }
  | { readonly kind: 'webhook'; readonly url: string }

/**
 * Reads `file:///var/lib/hub-checkpoints`, a web address, several of both separated by commas, or `off`.
 *
 * @throws Error whose message completes "HUB_CHECKPOINT_SINK …" and repeats no web address: it may contain a secret
 */
export function readCheckpointSinks(text: string, options: { httpsOnly: boolean }): readonly CheckpointSinkSettings[] {
  if (text.trim() === 'off') return Object.freeze([])
  const entries = text.split(',').map((entry) => entry.trim())
  return Object.freeze(entries.map((entry, index) => readSink(entry, index + 1, options)))
}

function readSink(entry: string, place: number, options: { httpsOnly: boolean }): CheckpointSinkSettings {
  const url = URL.parse(entry)
  if (url?.protocol === 'file:') return { kind: 'file', directory: directoryOf(url, place) }
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new Error(`has as entry ${place} neither a file: URL nor an http(s) URL.`)
  }
  if (options.httpsOnly && url.protocol !== 'https:') {
    throw new Error(`has as entry ${place} an address that is not https, which is required outside development.`)
  }
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new Error(`has as entry ${place} a web address with a user, a password or a fragment.`)
  }
  return { kind: 'webhook', url: entry }
}

function directoryOf(url: URL, place: number): string {
  if (url.hostname !== '' || url.search !== '' || url.hash !== '') {
    throw new Error(`has as entry ${place} more than a path, as file:///var/lib/hub-checkpoints has.`)
  }
  const directory = resolve(fileURLToPath(url))
  if (directory === '/') throw new Error(`has as entry ${place} no directory, as file:///var/lib/hub-checkpoints does.`)
  return directory
}
