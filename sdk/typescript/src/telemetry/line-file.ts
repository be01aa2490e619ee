import type { Fsync } from './disk-spool.ts'

/** The functions of `node:fs/promises` that the spool uses. */
export interface FileSystem {
  mkdir(path: string, options: { recursive: boolean; mode: number }): Promise<unknown>
  readdir(path: string): Promise<string[]>
  readFile(path: string, encoding: 'utf8'): Promise<string>
  realpath(path: string): Promise<string>
  writeFile(path: string, text: string, options: { flag: string; mode: number }): Promise<void>
  rm(path: string, options: { force: boolean }): Promise<void>
  stat(path: string): Promise<{ size: number }>
  open(path: string, flags: string, mode?: number): Promise<FileHandle>
}

interface FileHandle {
  appendFile(text: string): Promise<void>
  datasync(): Promise<void>
  sync(): Promise<void>
  truncate(length: number): Promise<void>
  stat(): Promise<{ size: number }>
  close(): Promise<void>
}

/** Returns the file system of the platform. Bundlers for browsers do not follow the import, because its name is no literal. */
export async function loadFileSystem(): Promise<FileSystem> {
  const name = 'node:fs/promises'
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as FileSystem
  } catch (cause) {
    throw new TypeError('The spool requires a file system: Node, Bun or Deno', { cause })
  }
}

/** Appends lines to a new file. Lines that arrive while others are written share one write. */
export class LineFile {
  /** Resolves when everything is written and the file is closed. */
  readonly ended: Promise<void>
  readonly #fs: FileSystem
  readonly #path: string
  readonly #fsync: Fsync
  #waiting: { text: string; resolve: () => void; reject: (error: unknown) => void }[] = []
  #writing: Promise<void> | undefined
  #handle: FileHandle | undefined
  #isEnding = false
  #hasLines = false
  #setEnded: () => void = () => undefined

  constructor(fs: FileSystem, path: string, fsync: Fsync) {
    this.#fs = fs
    this.#path = path
    this.#fsync = fsync
    this.ended = new Promise((resolve) => {
      this.#setEnded = resolve
    })
  }

  /** True if an append has resolved. */
  get hasLines(): boolean {
    return this.#hasLines
  }

  /** Resolves when the text is in the file, so that it survives this process. */
  append(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject })
      this.#writing ??= this.#writeAll()
    })
  }

  /** Closes the file once what was appended is written. */
  end(): void {
    this.#isEnding = true
    this.#writing ??= this.#writeAll()
  }

  async #writeAll(): Promise<void> {
    // Gathers the lines of this turn.
    await undefined
    while (this.#waiting.length > 0) {
      const group = this.#waiting
      this.#waiting = []
      try {
        await this.#write(group.map(({ text }) => text).join(''))
        this.#hasLines = true
        for (const { resolve } of group) resolve()
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    this.#writing = undefined
    if (!this.#isEnding) return
    if (this.#fsync === 'batch') await this.#handle?.datasync().catch(() => undefined)
    await this.#handle?.close().catch(() => undefined)
    this.#setEnded()
  }

  async #write(text: string): Promise<void> {
    const handle = this.#handle ?? (await this.#create())
    const { size } = await handle.stat()
    try {
      await handle.appendFile(text)
      if (this.#fsync === 'always') await handle.datasync()
    } catch (error) {
      // Its events were refused, so they may not be sent.
      await handle.truncate(size).catch(() => undefined)
      throw error
    }
  }

  async #create(): Promise<FileHandle> {
    this.#handle = await this.#fs.open(this.#path, 'ax', 0o600)
    if (this.#fsync !== 'never') await this.#syncDirectory()
    return this.#handle
  }

  /** Makes the name of the file durable. Some platforms cannot. */
  async #syncDirectory(): Promise<void> {
    const directory = await this.#fs.open(this.#path.slice(0, this.#path.lastIndexOf('/')), 'r').catch(() => undefined)
    await directory?.sync().catch(() => undefined)
    await directory?.close()
  }
}
