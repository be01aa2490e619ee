import type { ExportWriter } from '../exports-types.ts'

type Reserve = Parameters<ExportWriter['write']>[2]['reserve']

/** Counts the bytes of all files of one export, and reserves room before they are written. */
export class ReservedBytes {
  readonly #reserve: Reserve
  #bytes = 0
  #reserved = 0
  #last: Promise<void> = Promise.resolve()

  /** @param reserve returns the bytes that the files may have until it is called again; its error ends the export */
  constructor(reserve: Reserve) {
    this.#reserve = reserve
  }

  /** Call it before so many more bytes are written. Files that are written side by side reserve one after the other. */
  add(bytes: number): Promise<void> | undefined {
    this.#bytes += bytes
    if (this.#reserve === undefined || this.#bytes <= this.#reserved) return undefined
    const reserve = this.#reserve
    this.#last = this.#last.then(async () => {
      if (this.#bytes > this.#reserved) this.#reserved = await reserve(this.#bytes)
    })
    return this.#last
  }
}
