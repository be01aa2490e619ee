import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** Commands that a page shows together: an `sh` block, indented lines, or one command inside a sentence. */
export interface PageCommands {
  page: string
  line: number
  code: string
}

/** Pages whose indented lines are formulas, not commands. */
const formulas = ['docs/provenance.md', 'docs/provenance-log.md']

/** Matches an indented command: variables, then a program in lower case or by its path. */
const command = /^(?:[A-Z_]+=[^\s<]+ )*(?:export |source |[a-z./][\w./-]*(?= |$))/

/** Matches a fenced block, indented lines (further in below an item of a list), or a command inside a sentence. */
const shownCode =
  /^```(\w*)[^\n]*\n([\s\S]*?)^```|(?<=\n\n)( {4,})\S[^\n]*\n(?:\3 *\S[^\n]*\n)*|(?<!`)`((?:(?:npm|npx|node|python3|curl) |\.ci\/)[^`\n]+)`/gm

/** Matches a command that shows a form only, such as `npm run hub -- COMMAND`. */
const form = /[[\]…]| (?:[A-Z]+|[a-z]+:\*)$/

/** Returns the commands of all pages, in their order. Indented output and settings (`NAME=value`) are left out. */
export function commandsOfPages(): PageCommands[] {
  const pages = globSync(['*.md', 'docs/**/*.md', '{bench,demo,deploy,examples,sdk}/**/*.md'], {
    cwd: root,
    exclude: ['docs/reference/**', 'docs/adr/**', 'CHANGELOG.md', '**/node_modules/**', ...formulas],
  })
  return pages.sort().flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8')
    return [...text.matchAll(shownCode)].flatMap((block) => {
      const [all, language, fenced = '', margin, inline] = block
      if (language !== undefined && language !== 'sh') return []
      const code = inline !== undefined ? sentence(inline) : margin !== undefined ? indented(all, margin) : fenced
      return code === '' ? [] : [{ page, line: text.slice(0, block.index).split('\n').length, code }]
    })
  })
}

const sentence = (command: string) => (form.test(command) ? '' : `${command}\n`)

function indented(lines: string, margin: string): string {
  const commands = joined(lines.replaceAll(new RegExp(`^${margin}`, 'gm'), ''))
    .split('\n')
    .filter((line) => command.test(line))
  return commands.map((line) => `${line}\n`).join('')
}

/** Returns the text with continued lines as one. */
export const joined = (code: string) => code.replaceAll(/ ?\\\n\s*/g, ' ')

/** Pages whose commands are all run by another test. */
export const pagesRunElsewhere: Readonly<Record<string, string>> = {
  'README.md': 'tests/full/tour.test.ts',
  'docs/tour.md': 'tests/full/tour.test.ts',
  'docs/tour-audit.md': 'tests/full/tour.test.ts',
  'docs/tour-read.md': 'tests/full/tour.test.ts',
  'docs/connector-developer.md': 'tests/telemetry/connector-page.test.ts',
  'docs/mode-c.md': 'tests/telemetry/connector-page.test.ts',
  'docs/query.md': 'tests/telemetry/connector-page.test.ts',
  'docs/import.md': 'tests/full/import-page.test.ts',
  'docs/opentelemetry.md': 'tests/otlp/page-snippets.test.ts',
  'docs/webhook-receiver.md': 'tests/webhooks/page-snippets.test.ts',
}

/** Commands of the Hub and its packages that other tests run, by their beginning: the file that runs them. */
export const commandsRunElsewhere: Readonly<Record<string, string>> = {
  'npm run hub -- backup': 'tests/full/backup-command.test.ts',
  'npm run hub -- capacity': 'tests/cli/capacity.test.ts',
  'npm run hub -- connector': 'tests/full/connector-commands.test.ts',
  'npm run hub -- db distribute': 'tests/full/db-command.test.ts',
  'npm run hub -- db move': 'tests/full/move-database.test.ts',
  'npm run hub -- db status': 'tests/full/db-command.test.ts',
  'npm run hub -- demo': 'tests/full/demo-command.test.ts',
  'npm run hub -- doctor': 'tests/full/doctor-command.test.ts',
  'npm run hub -- jobs run hard-delete': 'tests/full/hard-delete-command.test.ts',
  'npm run hub -- jobs run sweep': 'tests/full/sweep-command.test.ts',
  'npm run hub -- keys rotate': 'tests/full/key-rotation-command.test.ts',
  'npm run hub -- log audit': 'tests/full/log-audit-command.test.ts',
  'npm run hub -- log retire': 'tests/full/log-audit-command.test.ts',
  'npm run hub -- migrate': 'tests/full/migrate-command.test.ts',
  'npm run hub -- restore': 'tests/full/backup-restore.test.ts',
  'npm run hub -- rollups rebuild': 'tests/full/rollups-command.test.ts',
  'npm run hub -- service-account create': 'tests/full/commands.test.ts',
  'npm run hub -- service-account disable': 'tests/full/commands.test.ts',
  'npm run hub -- tenant create': 'tests/full/commands.test.ts',
  'npm run hub -- tenant export-quota': 'tests/full/commands.test.ts',
  'npm run hub -- tenant limits': 'tests/full/commands.test.ts',
  'npm run hub -- verify': 'tests/full/verify-command.test.ts',
  'hub login': 'tests/full/people-commands.test.ts',
  'hub export': 'tests/full/people-commands.test.ts',
  'hub verify': 'tests/full/verify-command.test.ts',
  'hub records query': 'tests/full/people-commands.test.ts',
  'hub completion': 'tests/cli/completion.test.ts',
  'source <(hub completion': 'tests/cli/completion.test.ts',
  'npx node examples/onboarding/apply.ts': 'tests/full/examples.test.ts',
  'npx node examples/memory-agent/agent.ts': 'tests/full/examples.test.ts',
  'python3 examples/python-agent/agent.py': 'sdk/python/tests/test_package.py',
  'npm pack': 'tests/full/package.test.ts',
  'npx --package ./org-memory-hub': 'tests/full/package.test.ts',
  'deploy/make-secrets.sh': 'tests/deploy/compose.test.ts',
  'python3 sdk/python/org_memory_hub/verify.py': '.ci/python-verifier.sh',
  '/usr/bin/python3 sdk/python/org_memory_hub/verify.py': '.ci/python-verifier.sh',
  'python -m org_memory_hub.verify': '.ci/python-sdk.sh',
}

/** Commands that no test can run, by their beginning, and why. */
export const commandsNotRun: Readonly<Record<string, string>> = {
  '.ci/run': 'It runs the tests.',
  '.ci/one-core': 'It runs the tests.',
  'npx vitest run': 'It runs the tests.',
  'node .ci/complete-lockfile.mjs': 'Needs the registry of packages.',
  'npx node tests/browser/look.ts': 'Needs a running UI. tests/browser/ and tests/full/browser/ look at all pages.',
  'npx node tests/support/readme-tour.ts --write':
    'Writes into the checkout. tests/full/tour.test.ts takes the same tour.',
  'python3 sdk/python/write_reference.py':
    'Writes into the checkout. tests/documentation.test.ts checks what it wrote.',
  'claude mcp add': 'The program needs an account with its vendor. tests/agents/ speaks the protocol.',
  'curl -s http://127.0.0.1:9464/metrics': 'The Hub of the test has no port of metrics. tests/metrics/ reads it.',
  'kubectl ': 'Needs a cluster. tests/deploy/kubernetes.test.ts checks the manifests.',
  'docker ': 'Needs its daemon. tests/image/ builds the image, and tests/deploy/ checks the Compose file.',
  'pip install': 'Needs the index of packages. .ci/python-sdk.sh builds the wheel.',
  'export HUB_': 'A setting. tests/documentation.test.ts checks its name.',
  'openssl rand -base64 32 >': 'Writes outside the checkout.',
  'openssl rand -hex 32 >': 'Writes outside the checkout.',
  'useradd ': 'Changes the machine.',
  'cd /opt/org-memory-hub': 'Changes the machine.',
  'install -d ': 'Changes the machine.',
  "echo 'HUB_BASE_URL=": 'Changes the machine.',
  'cp deploy/systemd/': 'Changes the machine. tests/deploy/ checks the unit.',
  'systemctl ': 'Changes the machine.',
  'journalctl ': 'Needs systemd.',
  'systemd-run ': 'Needs systemd.',
}

/** Returns the commands of a page that run with it, in the order of the page; empty if other tests run them. */
export function runOf(code: string): string {
  return joined(code)
    .split('\n')
    .filter((line) => !startsWithOne(line) && !isPackageScript(line))
    .join('\n')
}

const starts = [...Object.keys(commandsRunElsewhere), ...Object.keys(commandsNotRun)]
const startsWithOne = (line: string) => starts.some((start) => line.startsWith(start))

/** Tells whether a line uses npm for something else than a command of the Hub. */
const isPackageScript = (line: string) => /^(?:[A-Z_]+=\S+ )*npm (?!run (?:--silent )?hub --)/.test(line)

/** Returns the script of package.json that a line starts; undefined if it starts none. */
export function packageScriptOf(line: string): string | undefined {
  const [, run, short] = /^(?:[A-Z_]+=\S+ )*npm (?:run (?:--silent )?([\w:-]+)|(start|test))/.exec(line) ?? []
  return run ?? short
}
