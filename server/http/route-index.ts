import type { RouteOptions } from 'fastify'

/** Paths of plug-ins; every other route uses `addRoute`, `addPage` or `addProtocol`. */
const pluginPaths = /^\/reference(\/|$)/

/** Knows the methods of each address, for the 405 of the others. */
export class RouteIndex {
  private readonly patterns = new Map<string, { expression: RegExp; methods: Set<string> }>()

  /** Adds a route. Throws if it was added without `addRoute` and `addPage`. */
  add(route: Pick<RouteOptions, 'url' | 'method' | 'config'>): void {
    const { config } = route
    const isOurs = [config?.route, config?.page, config?.protocol].some((each) => each !== undefined)
    if (!isOurs && !pluginPaths.test(route.url)) {
      throw new Error(`${route.method} ${route.url} was added without addRoute or addPage, so nothing would guard it.`)
    }
    const entry = this.patterns.get(route.url) ?? { expression: expressionOf(route.url), methods: new Set<string>() }
    for (const method of [route.method].flat()) entry.methods.add(method)
    this.patterns.set(route.url, entry)
  }

  /** Returns the methods of this URL's address, sorted; none for an unknown address. */
  methodsAt(url: string): string[] {
    const path = decoded(url.split('?', 1)[0] ?? '')
    const found = new Set<string>()
    for (const { expression, methods } of this.patterns.values()) {
      if (expression.test(path)) for (const method of methods) found.add(method)
    }
    return [...found].sort()
  }
}

/** Converts the router's pattern to an expression over the whole path. */
function expressionOf(pattern: string): RegExp {
  const source = pattern.replaceAll(/::|:\w+(?:\(([^)]*)\))?|\*|[.+?^${}()|[\]\\]/g, (token, inner?: string) => {
    if (token === '::') return ':'
    if (token === '*') return '.*'
    if (!token.startsWith(':')) return `\\${token}`
    // A parameter never extends beyond its segment.
    return inner === undefined ? '[^/]+' : `(?:(?!/)${inner.replace(/^\^/, '').replace(/\+$/, '')})+`
  })
  return new RegExp(`^${source}$`)
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
