import { hash } from 'node:crypto'

/** An attribute's value. Arrays, maps and bytes are never read. */
export type AttributeValue = string | number | boolean

/**
 * The attributes of a resource, scope or item, which inherits those of its parent. Nothing is copied, so ten thousand
 * items with one resource hold its attributes once.
 */
export class Attributes {
  readonly #parent: Attributes | undefined
  #own: Map<string, AttributeValue> | undefined
  #fingerprint: string | undefined

  /** @param parent complete: attributes that it gets later may not count */
  constructor(parent?: Attributes) {
    // A parent without attributes of its own, as scopes are, takes no turn in each look-up.
    this.#parent = parent && (parent.#own === undefined ? parent.#parent : parent)
  }

  get(name: string): AttributeValue | undefined {
    return this.#own?.get(name) ?? this.#parent?.get(name)
  }

  /** Sets an own attribute; the last of one name counts. */
  set(name: string, value: AttributeValue): void {
    this.#own ??= new Map()
    this.#own.set(name, value)
  }

  /** Returns a hash of the attributes with these names. Every call needs the same names, and none is set after it. */
  fingerprint(names: ReadonlySet<string>): string {
    this.#fingerprint ??= this.#hash(names)
    return this.#fingerprint
  }

  #hash(names: ReadonlySet<string>): string {
    const inherited = this.#parent?.fingerprint(names) ?? ''
    const own = [...(this.#own ?? [])].filter(([name]) => names.has(name))
    if (own.length === 0) return inherited
    const sorted = own.sort(([a], [b]) => (a < b ? -1 : 1))
    return hash('sha256', JSON.stringify([inherited, sorted]), 'base64url')
  }
}
