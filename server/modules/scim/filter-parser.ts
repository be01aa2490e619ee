import { scimFilterDepthMax, scimFilterTermsMax } from '../../../contract/limits.ts'
import type { CompareOperator, DirectoryFilter } from '../roster/directory/directory-types.ts'
import { type AttributePath, attributeNamed, findAttribute } from './attribute-paths.ts'
import { comparisonOf, FilterSyntaxError, type FilterToken, filterTokens } from './filter-tokens.ts'
import type { AttributeDefinition, ResourceDefinition } from './schema-types.ts'
import { scimProblem } from './scim-problems.ts'

const operators: ReadonlySet<string> = new Set(['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'])

/** An open bracket, with its terms so far. */
interface Frame {
  closes: ')' | ']' | 'end'
  negated: boolean
  /** For `[`: the multi-valued attribute whose values the terms compare. */
  values?: AttributePath
  /** The terms of the `or`, each a complete `and`. */
  ors: DirectoryFilter[]
  ands: DirectoryFilter[]
}

/**
 * Parses a filter (RFC 7644, section 3.4.2.2) over the attributes of a resource. Time and memory are linear in its
 * length. Open brackets are kept on a list of bounded length, never on the call stack.
 *
 * @throws DomainError 400 with scimType `invalidFilter`
 */
export function parseFilter(resource: ResourceDefinition, text: string): DirectoryFilter {
  try {
    return new FilterParser(resource, filterTokens(text)).parse()
  } catch (error) {
    if (error instanceof FilterSyntaxError) {
      throw scimProblem('invalidFilter', `The filter cannot be used: ${error.message}.`)
    }
    throw error
  }
}

/**
 * Parses the filter between the brackets of `emails[type eq "work"]`, from the token after `[` on.
 *
 * @returns the filter, whose paths are sub-attributes, and the index after `]`
 * @throws FilterSyntaxError
 */
export function parseValueFilter(
  resource: ResourceDefinition,
  tokens: readonly FilterToken[],
  values: AttributePath,
  from: number,
): { filter: DirectoryFilter; end: number } {
  const parser = new FilterParser(resource, tokens, from)
  return { filter: parser.parseValues(values), end: parser.position }
}

class FilterParser {
  position: number
  private terms = 0
  private readonly resource: ResourceDefinition
  private readonly tokens: readonly FilterToken[]

  constructor(resource: ResourceDefinition, tokens: readonly FilterToken[], from = 0) {
    this.resource = resource
    this.tokens = tokens
    this.position = from
  }

  parse(): DirectoryFilter {
    return this.run({ closes: 'end', negated: false, ors: [], ands: [] })
  }

  parseValues(values: AttributePath): DirectoryFilter {
    return this.run({ closes: ']', negated: false, values, ors: [], ands: [] })
  }

  /** Parses until `outermost` is closed. */
  private run(outermost: Frame): DirectoryFilter {
    const open: Frame[] = [outermost]
    for (;;) {
      const frame = open.at(-1) as Frame
      const opened = this.readTerm(frame)
      if (opened) {
        if (open.length >= scimFilterDepthMax) {
          throw new FilterSyntaxError(`it is nested deeper than ${scimFilterDepthMax} levels`)
        }
        open.push(opened)
        continue
      }
      const whole = this.readConnectives(open)
      if (whole) return whole
    }
  }

  /** Reads one comparison into the frame, or opens a bracket and returns it as the next frame. */
  private readTerm(frame: Frame): Frame | undefined {
    const token = this.next()
    if (token?.kind === '(') return { closes: ')', negated: false, ...inside(frame), ors: [], ands: [] }
    if (token?.kind !== 'word') throw this.unexpected('an attribute', token)
    if (token.text.toLowerCase() === 'not' && this.peek()?.kind === '(') {
      this.position++
      return { closes: ')', negated: true, ...inside(frame), ors: [], ands: [] }
    }
    const path = this.attributeOf(frame, token.text)
    if (this.peek()?.kind === '[') {
      this.position++
      if (frame.values || path.sub || !path.attribute.subAttributes || !path.attribute.multiValued) {
        throw new FilterSyntaxError(`${quoted(token.text)} has no values of several parts to choose from`)
      }
      return { closes: ']', negated: false, values: path, ors: [], ands: [] }
    }
    frame.ands.push(this.readComparison(path, frame.values !== undefined))
    return undefined
  }

  /** Reads `and`, `or` and closing brackets. Returns the filter when the outermost bracket is closed. */
  private readConnectives(open: Frame[]): DirectoryFilter | undefined {
    for (;;) {
      const frame = open.at(-1) as Frame
      const token = this.next()
      const word = token?.kind === 'word' ? token.text.toLowerCase() : undefined
      if (word === 'and') return undefined
      if (word === 'or') {
        frame.ors.push(joined('and', frame.ands))
        frame.ands = []
        return undefined
      }
      if ((token?.kind ?? 'end') !== frame.closes) throw this.unexpected('and, or, or the end', token)
      open.pop()
      const inner = joined('or', [...frame.ors, joined('and', frame.ands)])
      const outer = open.at(-1)
      if (!outer) return inner
      outer.ands.push(this.close(frame, inner))
    }
  }

  private close(frame: Frame, inner: DirectoryFilter): DirectoryFilter {
    if (frame.closes !== ']') return frame.negated ? { kind: 'not', term: inner } : inner
    const values = frame.values as AttributePath
    return { kind: 'some', path: directoryPath(values), filter: this.withSubAttribute(values.attribute, inner) }
  }

  /**
   * Reads a sub-attribute after brackets. Entra sends `emails[type eq "work"].value eq "…"`, which concerns the same
   * value.
   */
  private withSubAttribute(attribute: AttributeDefinition, filter: DirectoryFilter): DirectoryFilter {
    const token = this.peek()
    if (token?.kind !== 'word' || !token.text.startsWith('.')) return filter
    const sub = attributeNamed(attribute.subAttributes, token.text.slice(1))
    if (!sub) throw new FilterSyntaxError(`there is no attribute ${quoted(attribute.name + token.text)}`)
    this.position++
    return joined('and', [filter, this.readComparison({ attribute: sub }, true)])
  }

  private readComparison(path: AttributePath, withinValues: boolean): DirectoryFilter {
    this.terms++
    if (this.terms > scimFilterTermsMax) {
      throw new FilterSyntaxError(`it has more than ${scimFilterTermsMax} comparisons`)
    }
    const token = this.next()
    const operator = token?.kind === 'word' ? token.text.toLowerCase() : ''
    if (operator === 'pr') return { kind: 'present', path: directoryPath(path) }
    if (!operators.has(operator)) throw this.unexpected('an operator such as eq, co or pr', token)
    const compared = withinValues ? path : withValue(path)
    const value = comparisonOf(compared, operator as CompareOperator, this.next())
    return { kind: 'compare', path: directoryPath(compared), operator: operator as CompareOperator, value }
  }

  private attributeOf(frame: Frame, text: string): AttributePath {
    const { values } = frame
    const sub = values && attributeNamed(values.attribute.subAttributes, text)
    const path = values ? sub && { attribute: sub } : findAttribute(this.resource, text)
    if (!path) throw new FilterSyntaxError(`there is no attribute ${quoted(text)}`)
    return path
  }

  private next(): FilterToken | undefined {
    const token = this.tokens[this.position]
    this.position++
    return token
  }

  private peek(): FilterToken | undefined {
    return this.tokens[this.position]
  }

  private unexpected(expected: string, token: FilterToken | undefined): FilterSyntaxError {
    if (token === undefined) return new FilterSyntaxError(`it ends where ${expected} is expected`)
    const found = token.kind === 'word' ? quoted(token.text) : token.kind === 'literal' ? 'a value' : token.kind
    return new FilterSyntaxError(`${found} was found where ${expected} is expected`)
  }
}

/** Returns the attribute of the frame: within `[…]` all brackets concern the same values. */
function inside({ values }: Frame): { values?: AttributePath } {
  return values ? { values } : {}
}

function joined(kind: 'and' | 'or', terms: readonly DirectoryFilter[]): DirectoryFilter {
  return terms.length === 1 ? (terms[0] as DirectoryFilter) : { kind, terms }
}

/** Compares a complex attribute by its value: `emails co "@"` means `emails.value co "@"`. */
function withValue(path: AttributePath): AttributePath {
  if (path.sub || !path.attribute.subAttributes) return path
  const value = attributeNamed(path.attribute.subAttributes, 'value')
  if (!value) throw new FilterSyntaxError(`${quoted(path.attribute.name)} has parts; compare one of them`)
  return { ...path, sub: value }
}

/** Returns the path in the form of the directory: lower case, without the URN of the core schema. */
export function directoryPath({ extension, attribute, sub }: AttributePath): string[] {
  const names = [attribute.name, ...(sub ? [sub.name] : [])]
  return [...(extension === undefined ? [] : [extension]), ...names].map((name) => name.toLowerCase())
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
