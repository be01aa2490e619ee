/** How bad a finding is; later ones are worse. */
export const severities = ['ok', 'warning', 'problem'] as const
export type Severity = (typeof severities)[number]

/** The result of one check, for people and for programs. */
export interface Finding {
  readonly check: string
  readonly status: Severity
  readonly detail: string
  /** Tells an operator how to solve it. Absent if all is well. */
  readonly action?: string
}

export const ok = (check: string, detail: string): Finding => ({ check, status: 'ok', detail })

export const warning = (check: string, detail: string, action: string): Finding => ({
  ...{ check, status: 'warning', detail, action },
})

export const problem = (check: string, detail: string, action: string): Finding => ({
  ...{ check, status: 'problem', detail, action },
})

/** Returns the worst status among findings. */
export function worstOf(findings: readonly Finding[]): Severity {
  return severities.findLast((severity) => findings.some(({ status }) => status === severity)) ?? 'ok'
}

/** Returns a finding as one line. */
export function lineOf({ check, status, detail, action }: Finding): string {
  const text = `${check}: ${detail}${action === undefined ? '' : ` ${action}`}`
  return `${status.padEnd(7)}  ${text.replaceAll(/\s*\n\s*/g, ' ')}`
}
