import type { ArchetypeId } from './company.ts'

export interface DemoModel {
  platform: string
  model: string
  /** Latency: a fixed part, a part per token read and a part per token written, in milliseconds. */
  latency: { fixed: number; perTokenIn: number; perTokenOut: number }
  /** The price in US dollars per million tokens by which the sender estimates its cost. */
  bills: { tokensIn: number; tokensOut: number }
}

const sonnet: DemoModel = {
  platform: 'claude',
  model: 'claude-sonnet-4-5',
  latency: { fixed: 420, perTokenIn: 0.09, perTokenOut: 14 },
  bills: { tokensIn: 3, tokensOut: 15 },
}
const opus: DemoModel = {
  platform: 'claude',
  model: 'claude-opus-4-1',
  latency: { fixed: 780, perTokenIn: 0.14, perTokenOut: 24 },
  bills: { tokensIn: 15, tokensOut: 75 },
}
const haikuPrice = { latency: { fixed: 260, perTokenIn: 0.03, perTokenOut: 6 }, bills: { tokensIn: 1, tokensOut: 5 } }
const haiku: DemoModel = { platform: 'claude', model: 'claude-haiku-4-5', ...haikuPrice }
const slackHaiku: DemoModel = { ...haiku, platform: 'slack' }
const gpt5: DemoModel = {
  platform: 'chatgpt',
  model: 'gpt-5',
  latency: { fixed: 610, perTokenIn: 0.07, perTokenOut: 13 },
  bills: { tokensIn: 1.25, tokensOut: 10 },
}
const geminiPro: DemoModel = {
  platform: 'gemini',
  model: 'gemini-2.5-pro',
  latency: { fixed: 530, perTokenIn: 0.05, perTokenOut: 9 },
  bills: { tokensIn: 1.25, tokensOut: 10 },
}
const copilot: DemoModel = {
  platform: 'copilot',
  model: 'gpt-4.1',
  latency: { fixed: 380, perTokenIn: 0.06, perTokenOut: 11 },
  bills: { tokensIn: 2, tokensOut: 8 },
}
/** The company's own model, which no price list contains. */
const handbookBot: DemoModel = {
  platform: 'custom:handbook-bot',
  model: 'fernhill-handbook-7b',
  latency: { fixed: 150, perTokenIn: 0.02, perTokenOut: 22 },
  bills: { tokensIn: 0.2, tokensOut: 0.2 },
}

/** The models that each archetype uses, with their weights. */
export const modelsOf: Record<ArchetypeId, readonly (readonly [DemoModel, number])[]> = {
  'support-agent': [
    [sonnet, 55],
    [haiku, 25],
    [slackHaiku, 14],
    [handbookBot, 6],
  ],
  'software-engineer': [
    [sonnet, 88],
    [copilot, 12],
  ],
  'account-executive': [
    [gpt5, 55],
    [sonnet, 33],
    [slackHaiku, 12],
  ],
  'data-analyst': [
    [geminiPro, 60],
    [sonnet, 40],
  ],
  'finance-controller': [
    [gpt5, 55],
    [geminiPro, 45],
  ],
  'legal-counsel': [
    [sonnet, 80],
    [gpt5, 20],
  ],
}

/** The archetype that moves to a model that costs five times as much per token. */
export const move = { archetypeId: 'software-engineer', from: sonnet, to: opus } as const

/** The discount on one much-used model, as the company's own price for it. */
export const discount = {
  model: sonnet,
  inputUsdPerMtok: 1.95,
  outputUsdPerMtok: 9.75,
} as const
