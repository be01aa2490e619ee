import { equalBytes, uuidToBytes } from './bytes.ts'

const idBytes = 16
const none = -1

/** Holds the ids of the seals with rows, in order. Each takes 24 bytes, so millions fit into memory. */
export class SealIndex {
  #ids = new Uint8Array(idBytes * 1024)
  #slots = new Uint32Array(2048)
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Adds an id. Returns false if it is already present. */
  add(sealId: string): boolean {
    const id = uuidToBytes(sealId)
    if (this.find(id) !== none) return false
    if (this.#count * 2 >= this.#slots.length) this.#grow()
    this.#ids.set(id, idBytes * this.#count)
    this.#count++
    this.#slots[this.#freeSlot(id, 0)] = this.#count
    return true
  }

  /** Returns the position of an id in order of insertion; -1 if absent. */
  find(source: Uint8Array, offset = 0): number {
    const id = source.subarray(offset, offset + idBytes)
    for (let slot = this.#firstSlot(id, 0); ; slot = (slot + 1) % this.#slots.length) {
      const found = this.#slots[slot]!
      if (found === 0) return none
      if (equalBytes(this.#idAt(found - 1), id)) return found - 1
    }
  }

  #idAt(index: number): Uint8Array {
    return this.#ids.subarray(idBytes * index, idBytes * index + idBytes)
  }

  /** The last bytes of a UUIDv7 are random. */
  #firstSlot(bytes: Uint8Array, offset: number): number {
    const at = offset + 12
    const random = bytes[at]! * 0x1000000 + (bytes[at + 1]! << 16) + (bytes[at + 2]! << 8) + bytes[at + 3]!
    return random % this.#slots.length
  }

  #freeSlot(bytes: Uint8Array, offset: number): number {
    let slot = this.#firstSlot(bytes, offset)
    while (this.#slots[slot] !== 0) slot = (slot + 1) % this.#slots.length
    return slot
  }

  #grow(): void {
    const ids = new Uint8Array(this.#ids.length * 2)
    ids.set(this.#ids)
    this.#ids = ids
    this.#slots = new Uint32Array(this.#slots.length * 2)
    for (let i = 0; i < this.#count; i++) this.#slots[this.#freeSlot(ids, idBytes * i)] = i + 1
  }
}
