import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { fileProblem, StartupError } from '../../server/startup-error.ts'
import { lockFile } from '../connector/spool-database.ts'
import { NotSignedInError } from './login-errors.ts'

const Text = Type.String({ minLength: 1, maxLength: 100_000 })

const hub = { version: Type.Literal(1), hub_url: Text, tenant: Text, client_id: Text }

/** A person who authorized this program. Tokens are replaced together. */
const PersonLogin = Type.Object({
  kind: Type.Literal('person'),
  ...hub,
  access_token: Text,
  renew_after_ms: Type.Number({ description: 'Milliseconds since 1970 from which the access token is renewed' }),
  expires_at_ms: Type.Number(),
  refresh_token: Text,
})
const AccountLogin = Type.Object({ kind: Type.Literal('service_account'), ...hub, client_secret: Text })

export type PersonLogin = Static<typeof PersonLogin>
export type StoredLogin = PersonLogin | Static<typeof AccountLogin>

const validator = Compile(Type.Union([PersonLogin, AccountLogin]))
const bytesMax = 1024 * 1024
/** Bits of a mode that let others read, and write. */
const others = 0o077
const othersWrite = 0o022

/** The login of this person on this machine, in a file that only they may read. */
export class LoginFile {
  readonly path: string
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
    this.path = join(folder, 'login.json')
  }

  /**
   * Returns the stored login; undefined if there is none.
   *
   * @throws NotSignedInError if others may read the file or change its folder, or if the content is unusable
   */
  async read(): Promise<StoredLogin | undefined> {
    const file = await this.#open()
    if (file === undefined) return undefined
    try {
      await this.#rejectOthers(file)
      const { size } = await file.stat()
      const text = size > bytesMax ? '' : await file.readFile('utf8')
      const login = jsonIn(text)
      if (validator.Check(login)) return login
    } finally {
      await file.close()
    }
    throw new NotSignedInError(`${this.path} is not a stored login.`, 'Remove it, and run: hub login')
  }

  /** Replaces the stored login. A kill at any moment leaves the old one or the new one. Call it in {@link exclusively}. */
  async write(login: StoredLogin): Promise<void> {
    const unfinished = `${this.path}.${randomBytes(6).toString('hex')}.new`
    try {
      const file = await open(unfinished, 'wx', 0o600)
      try {
        await file.writeFile(`${JSON.stringify(login, undefined, 2)}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(unfinished, this.path)
    } catch (cause) {
      await rm(unfinished, { force: true })
      throw new StartupError(`${this.path} cannot be written: ${fileProblem(cause)}.`, 'Correct that, and try again.', {
        cause,
      })
    }
  }

  /** Removes the stored login. */
  remove(): Promise<void> {
    return rm(this.path, { force: true })
  }

  /**
   * Runs work while no other process renews, replaces or removes the login. The kernel releases the lock when a process
   * ends.
   */
  async exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const lock = await this.#lock()
    try {
      return await work()
    } finally {
      lock.release()
    }
  }

  async #lock() {
    const path = join(this.#folder, 'login.lock')
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      await chmod(this.#folder, 0o700)
      await (await open(path, 'a', 0o600)).close()
    } catch (cause) {
      const fix = 'Make the folder writable for you, or set XDG_CONFIG_HOME to another one.'
      throw new StartupError(`The folder ${this.#folder} cannot be used: ${fileProblem(cause)}.`, fix, { cause })
    }
    const held = { message: `Another hub command changes ${this.path}.`, fix: 'Try again when it has ended.' }
    // The longest request under the lock ends by its own timeout before.
    for (const deadline = Date.now() + lockMs; ; await wait(lockPollMs)) {
      try {
        return lockFile(path, held)
      } catch (error) {
        if (!(error instanceof StartupError) || Date.now() > deadline) throw error
      }
    }
  }

  /** Opens the file without following a link, which another person may have put there. */
  async #open(): Promise<FileHandle | undefined> {
    try {
      return await open(this.path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
      const reason = code === 'ELOOP' ? 'it is a link' : fileProblem(error)
      throw new NotSignedInError(
        `The stored login ${this.path} cannot be read: ${reason}.`,
        `Correct that, or remove it and run: hub login`,
        { cause: error },
      )
    }
  }

  async #rejectOthers(file: FileHandle): Promise<void> {
    // Windows has no such modes; profiles are private there.
    const own = process.getuid?.()
    if (own === undefined) return
    const { mode, uid } = await file.stat()
    const folder = await stat(this.#folder)
    if (uid !== own) throw unsafe(`${this.path} belongs to another user.`, 'Remove it, and run: hub login')
    if ((mode & others) !== 0) {
      const fix = `Others may know its tokens by now: run hub logout after chmod 600 '${this.path}', then hub login.`
      throw unsafe(`Other users may read ${this.path}, so it is refused.`, fix)
    }
    if ((folder.mode & othersWrite) !== 0) {
      throw unsafe(`Other users may change files in ${this.#folder}.`, `Run: chmod 700 '${this.#folder}'`)
    }
  }
}

const lockMs = 120_000
const lockPollMs = 25

function unsafe(message: string, fix: string): NotSignedInError {
  return new NotSignedInError(message, fix)
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
