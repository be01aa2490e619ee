import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { fileProblem } from '../startup-error.ts'

/**
 * The variables that contain a secret, or may. Each may name a file instead, under its name with `_FILE` appended:
 * `HUB_MASTER_KEY_FILE=/run/secrets/master-key`. Files stay out of process lists, crash dumps and child processes.
 */
export const secretVariables: readonly string[] = [
  'HUB_DATABASE_URL',
  'HUB_DATABASE_DIRECT_URL',
  'HUB_DATABASE_READ_URL',
  'HUB_MASTER_KEY',
  'HUB_OPERATOR_TOKEN',
  'HUB_VAULT_TOKEN',
  'HUB_SMTP_URL',
  'HUB_VALKEY_URL',
  'HUB_STORAGE_URL',
  'HUB_CHECKPOINT_SINK',
  'HUB_CLIENT_SECRET',
  'HUB_CONNECTOR_CLIENT_SECRET',
  'HUB_CONNECTOR_SHARED_SECRET',
]

const fileBytesMax = 64 * 1024

/** The text of a secret variable, the variable that named it, and why it cannot be used. */
export interface SecretText {
  readonly text?: string
  /** The variable that the operator has set: the variable itself, or the one with `_FILE`. */
  readonly variable: string
  readonly problem?: { readonly problem: string; readonly fix: string }
}

/**
 * Reads a secret from its variable or from the file that `<variable>_FILE` names. A line break at the end of the file
 * does not belong to the secret.
 *
 * @returns no text if neither is set, or with the problem: both are set, or the file is unreadable, empty, no text, or
 * larger than 64 KiB. Problems never contain the secret
 */
export function readSecretText(env: NodeJS.ProcessEnv, variable: string): SecretText {
  const fileVariable = `${variable}_FILE`
  const [text, file] = [env[variable] || undefined, env[fileVariable] || undefined]
  if (file === undefined) return { variable, ...(text !== undefined && { text }) }
  const fails = (problem: string, fix: string): SecretText => ({ variable: fileVariable, problem: { problem, fix } })
  if (text !== undefined) return fails(`is set beside ${variable}.`, 'Set one of the two.')
  try {
    return { variable: fileVariable, text: readSecretFile(file) }
  } catch (error) {
    const problem = `names ${file}, which cannot be read: ${fileProblem(error)}.`
    return fails(problem, `Name a readable file that contains the value of ${variable} and nothing else.`)
  }
}

/** Reads without waiting: a pipe that nobody writes to would stop the start. */
function readSecretFile(file: string): string {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(descriptor)
    if (stat.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
    if (!stat.isFile()) throw new Error('it is not a regular file')
    const bytes = Buffer.alloc(fileBytesMax + 1)
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(descriptor, bytes, length, bytes.length - length, null)
    }
    if (length > fileBytesMax) throw new Error('it is larger than 64 KiB')
    const text = asText(bytes.subarray(0, length)).replace(/\r?\n$/, '')
    if (text === '') throw new Error('it is empty')
    return text
  } finally {
    closeSync(descriptor)
  }
}

function asText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new Error('it is not text in UTF-8', { cause })
  }
}
