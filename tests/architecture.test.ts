import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { parseSync } from 'oxc-parser'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')

interface Import {
  file: string
  target: string
  typeOnly: boolean
}

function sourceFiles(): string[] {
  return globSync('{contract,provenance,sdk,demo,cli,server,bench,web}/**/*.{ts,tsx}', { cwd: root })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => !isGenerated.test(file))
}

/** `npm run api-types` and the builds of the UI and the SDK write these. */
const isGenerated = /^(web\/api\/openapi\.d\.ts$|web\/dist(\.[^/]*)?\/|sdk\/typescript\/(src\/openapi\.ts$|dist\/))/

/** Every static and literal dynamic import of a file, as a path from the root or a bare package name. */
function importsOf(file: string): Import[] {
  const source = readFileSync(join(root, file), 'utf8')
  const { module } = parseSync(file, source)
  const found = [
    ...module.staticImports.map((entry) => ({
      specifier: entry.moduleRequest.value,
      typeOnly: entry.entries.length > 0 && entry.entries.every((name) => name.isType),
    })),
    ...module.staticExports
      .flatMap((entry) => entry.entries)
      .filter((entry) => entry.moduleRequest)
      .map((entry) => ({ specifier: entry.moduleRequest?.value ?? '', typeOnly: entry.isType })),
    ...module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
      const specifier = /^['"](.*)['"]$/.exec(source.slice(start, end))?.[1]
      return specifier === undefined ? [] : [{ specifier, typeOnly: false }]
    }),
  ]
  return found.map(({ specifier, typeOnly }) => ({
    file,
    typeOnly,
    target: specifier.startsWith('.')
      ? relative(root, resolve(root, dirname(file), specifier))
          .split(sep)
          .join('/')
      : specifier,
  }))
}

const imports = sourceFiles().flatMap(importsOf)
const isLocal = (target: string) => /^(contract|provenance|sdk|demo|cli|server|tests|bench|web)\//.test(target)
const moduleOf = (path: string) => path.match(/^server\/modules\/([^/]+)\//)?.[1]

/** Folder → what it may import besides itself. `packages` says which bare specifiers; absent means any. */
const rules: Record<string, { folders: string[]; packages?: RegExp }> = {
  provenance: { folders: [], packages: /^$/ },
  contract: { folders: [], packages: /^typebox(\/|$)/ },
  // Published as a package without dependencies; Node's modules are loaded by name, where there are any.
  // `./webhooks/node` alone is for Node only, and synchronous.
  'sdk/typescript/src': { folders: ['provenance/'], packages: /^node:crypto$/ },
  'sdk/typescript/src/telemetry': { folders: ['sdk/typescript/src/'], packages: /^$/ },
  'sdk/typescript/src/verify': { folders: ['provenance/'], packages: /^$/ },
  sdk: { folders: ['contract/', 'provenance/'] },
  // Runs in Node and in the browser.
  demo: { folders: ['contract/'], packages: /^$/ },
  web: { folders: ['contract/', 'provenance/', 'sdk/', 'demo/'] },
  // What would do in any other UI as well: it is told what to show, and where links lead.
  'web/ui': { folders: ['contract/', 'web/theme.ts'], packages: /^(?!@tanstack\/react-router|openapi-)/ },
  cli: { folders: ['server/', 'sdk/', 'demo/', 'provenance/', 'contract/'] },
  'server/http': { folders: ['contract/', 'provenance/', 'server/config.ts', 'server/tracing/'] },
  'server/secrets': { folders: ['server/config.ts', 'contract/'] },
  'server/db': {
    folders: [
      'server/config.ts',
      'server/config/',
      'server/secrets/',
      'contract/',
      'server/startup-error.ts',
      'server/tracing/',
      'server/embedded-postgres/',
    ],
  },
  'server/embedded-postgres': {
    folders: ['contract/', 'server/db/', 'server/config/', 'server/secrets/', 'server/startup-error.ts'],
  },
  // Rows, ids and responses of records, without rules about them.
  'server/records': { folders: ['contract/', 'provenance/', 'server/db/'] },
  'server/storage': {
    folders: ['server/config.ts', 'server/config/', 'contract/', 'server/db/database.ts', 'server/startup-error.ts'],
  },
  'server/outbound': { folders: ['server/config.ts', 'server/tracing/', 'contract/'] },
  'server/mail': { folders: ['server/config.ts', 'server/config/', 'server/db/database.ts'] },
  'server/tracing': { folders: ['server/config.ts', 'server/db/database.ts'] },
  'server/metrics': { folders: ['server/config.ts', 'server/db/database.ts', 'server/startup-error.ts'] },
  'server/limits': {
    folders: ['server/config.ts', 'server/db/database.ts', 'server/http/', 'server/metrics/', 'server/secrets/'],
  },
  'server/jobs': { folders: ['server/db/', 'server/tracing/', 'server/config.ts', 'contract/'] },
  'server/delivery': { folders: ['server/db/', 'server/http/', 'server/jobs/', 'contract/'] },
  'server/modules': {
    folders: [
      'contract/',
      'provenance/',
      'server/http/',
      'server/db/',
      'server/records/',
      'server/jobs/',
      'server/delivery/',
      'server/secrets/',
      'server/config.ts',
      'server/startup-error.ts',
      'server/cached-fetch.ts',
      'server/event-bus.ts',
      'server/module-parts.ts',
      'server/outbound/',
      'server/mail/',
      'server/storage/',
    ],
  },
}

describe('import boundaries', () => {
  for (const [folder, rule] of Object.entries(rules)) {
    test(`${folder}/ imports only ${['itself', ...rule.folders].join(', ')}`, () => {
      const breaches = imports
        .filter((entry) => entry.file.startsWith(`${folder}/`))
        .filter((entry) =>
          isLocal(entry.target)
            ? !entry.target.startsWith(`${folder}/`) &&
              !rule.folders.some((allowed) => entry.target.startsWith(allowed))
            : rule.packages !== undefined && !rule.packages.test(entry.target),
        )
        .map((entry) => `${entry.file} → ${entry.target}`)
      expect(breaches).toEqual([])
    })
  }

  test('a module reaches another only through its types', () => {
    const breaches = imports
      .filter((entry) => {
        const [from, to] = [moduleOf(entry.file), moduleOf(entry.target)]
        return (
          from !== undefined &&
          to !== undefined &&
          from !== to &&
          !(entry.typeOnly && entry.target.endsWith('-types.ts'))
        )
      })
      .map((entry) => `${entry.file} → ${entry.target}`)
    expect(breaches).toEqual([])
  })

  test('only routes and the HTTP layer know Fastify', () => {
    const breaches = imports
      .filter((entry) => /^(fastify|@fastify\/)/.test(entry.target))
      .filter(
        (entry) =>
          !/^server\/(http\/|app\.ts|main\.ts)|-(routes|module)\.ts$|^bench\/|^server\/modules\/observability\//.test(
            entry.file,
          ),
      )
      .map((entry) => `${entry.file} → ${entry.target}`)
    expect(breaches).toEqual([])
  })

  test('the rules see the tree they are for', () => {
    expect(imports.length).toBeGreaterThan(100)
    expect(imports.some((entry) => entry.target === 'fastify')).toBe(true)
    expect(imports.some((entry) => entry.typeOnly)).toBe(true)
    // This one is dynamic.
    expect(imports).toContainEqual({ file: 'cli/commands/serve.ts', target: 'server/main.ts', typeOnly: false })
  })
})

/** A node of a syntax tree. */
interface SyntaxNode {
  type: string
  start: number
  end: number
  [member: string]: unknown
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string'

/** Returns the nodes directly inside another, without names of members, which refer to nothing. */
function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const isName = (key: string) => (key === 'key' || key === 'property') && node.computed === false
  return Object.entries(node).flatMap(([key, value]) => (isName(key) ? [] : [value].flat().filter(isNode)))
}

function identifiersIn(node: SyntaxNode): { name: string; start: number }[] {
  const own = node.type === 'Identifier' ? [{ name: node.name as string, start: node.start }] : []
  return [...own, ...childrenOf(node).flatMap(identifiersIn)]
}

/** Returns the names that the functions of a source use before the statement that declares them, even in closures. */
function forwardReferences(source: string): string[] {
  const functions = (node: SyntaxNode): SyntaxNode[] => [
    ...(node.type === 'FunctionDeclaration' ? [node] : []),
    ...childrenOf(node).flatMap(functions),
  ]
  return functions(parseSync('source.ts', source).program as unknown as SyntaxNode).flatMap((each) => {
    const body = each.body as SyntaxNode & { body: SyntaxNode[] }
    return body.body.flatMap((statement) => {
      if (statement.type !== 'VariableDeclaration') return []
      const declarations = statement.declarations as (SyntaxNode & { id: SyntaxNode })[]
      const declared = new Set(declarations.flatMap(({ id }) => identifiersIn(id).map(({ name }) => name)))
      const before = body.body.filter(({ start }) => start < statement.start)
      return before.flatMap(identifiersIn).flatMap(({ name }) => (declared.has(name) ? [name] : []))
    })
  })
}

describe('wiring', () => {
  test('createModules uses no module before it is created, not even in a closure', () => {
    const late = 'function wire() { const one = make({ two: () => late.two }); const late = other(one) }'
    expect(forwardReferences(late)).toEqual(['late'])
    expect(forwardReferences('function wire() { const late = 1; use({ late }, late) }')).toEqual([])
    const source = readFileSync(join(root, 'server/create-modules.ts'), 'utf8')
    expect(source).toContain('async function createModules(')
    expect(forwardReferences(source)).toEqual([])
  })
})

/** Examples of breaches, and a command of minutes. */
const exempt = /^tests\/(architecture\.test|support\/tour)\.ts$/

/**
 * Files that bound a time in a way that {@link timedLines} does not see, each with the reason why it holds on a slow
 * machine.
 */
const measuring: Record<string, string> = {
  'tests/full/large-groups.test.ts': 'CPU time of the thread between two turns, scaled',
  'tests/full/roster-pull-pages.test.ts': 'CPU time of the thread between two turns, scaled',
  'tests/full/webhook-relay.test.ts': 'CPU time of the thread between two turns, scaled',
  'tests/full/browser/graph-thousand.test.ts': 'long tasks of the browser, scaled',
  'tests/full/browser/million.test.ts': 'first data of a page and long tasks of the browser, scaled',
  'tests/full/revocation-across-hubs.test.ts': 'the product compares the same clock before it answers',
}

/** Upper bounds on what a name says to be a time, and helpers that measure one. */
const measures = /busiestTurn\(|'longtask'|expect\([^)]*(Ms\b|[sS]ince\b|slowest\w*\().*\)\.toBeLess\w*\(.*(Ms|scaled)/

/** Lines that bound a difference of clock readings which they name or take themselves, and timeouts that are not scaled. */
function timedLines(lines: readonly string[]): string[] {
  const elapsed = /(performance|Date)\.now\(\) - (?!Date\.parse)\w|monitorEventLoopDelay\(|cpuUsage\(/
  const names = lines.flatMap((line) => (elapsed.test(line) ? (/(\w+) = /.exec(line)?.[1] ?? []) : []))
  const isElapsed = (text: string) => elapsed.test(text) || names.some((name) => new RegExp(`\\b${name}\\b`).test(text))
  return lines.filter((line) => {
    const asserted = /expect\((.*)\)\.(toBeLess|not\.toBeGreater)/.exec(line)?.[1] ?? ''
    const compared = /expect\((.*<.*)\)\./.exec(line)?.[1] ?? ''
    return isElapsed(asserted) || isElapsed(compared) || /\btimeout: \d/.test(line)
  })
}

describe('house rules', () => {
  const files = [...sourceFiles(), ...globSync('tests/**/*.ts', { cwd: root })]
  const lines = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8').split('\n')]))

  test('process.env is read in the configuration and by the entry points that pass it there', () => {
    // What runs in a browser has none (its type check knows no `process`), and may show examples that do.
    const readers = sourceFiles().filter((file) => lines.get(file)?.some((line) => line.includes('process.env')))
    expect(readers.filter((file) => !/^(server\/config|cli\/|bench\/|web\/)/.test(file))).toEqual([])
  })

  test('SQL lives in stores, the database layer and migrations', () => {
    const sql = /\b(select|insert into|update|delete from)\b[^'"`]*\bhub\.[a-z_]+/i
    const breaches = sourceFiles()
      .filter((file) => /^server\/(modules|records)\//.test(file) && !/-store\.ts$/.test(file))
      .filter((file) =>
        lines
          .get(file)
          ?.some((line) => sql.test(line) || /\.(selectFrom|insertInto|updateTable|deleteFrom)\(/.test(line)),
      )
    expect(breaches).toEqual([])
  })

  test('no file is longer than 400 lines, none has a name that says nothing', () => {
    const long = sourceFiles().filter((file) => (lines.get(file)?.length ?? 0) > 400)
    const vague = files.filter((file) => /(^|\/|-)(utils?|helpers?|common|misc)\.tsx?$/.test(file))
    expect({ long, vague }).toEqual({ long: [], vague: [] })
  })

  test('no page of the web UI is longer than 300 lines', () => {
    const pages = sourceFiles().filter((file) => /^web\/pages\/.*-page\.tsx$/.test(file))
    expect(pages.length).toBeGreaterThan(0)
    expect(pages.filter((file) => (lines.get(file)?.length ?? 0) > 300)).toEqual([])
  })

  test('no line bounds clock readings that its file subtracts, every timeout is scaled, and all that measure are listed', () => {
    const tests = files.filter((file) => file.startsWith('tests/') && !exempt.test(file))
    const breaches = tests.flatMap((file) => timedLines(lines.get(file) ?? []).map((line) => `${file}: ${line}`))
    // The rule finds the bounds that it is meant to refuse.
    const timed = ['const tookMs = performance.now() - began', 'expect(tookMs).toBeLessThan(50)']
    expect(timedLines([...timed, 'expect(Date.now() - began < 9).toBe(true)', '{ timeout: 5_000 }'])).toHaveLength(3)
    expect(breaches).toEqual([])
    const found = tests.filter(
      (file) => file.endsWith('.test.ts') && lines.get(file)?.some((line) => measures.test(line)),
    )
    expect(found.sort()).toEqual(Object.keys(measuring).sort())
  })

  test('no test is skipped, narrowed or left to do', () => {
    const call = new RegExp(`\\b(it|test|describe)\\.(${['skip', 'only', 'todo'].join('|')})\\b`)
    expect(files.filter((file) => lines.get(file)?.some((line) => call.test(line)))).toEqual([])
  })
})
