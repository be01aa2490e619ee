export interface Message {
  role: 'user' | 'assistant'
  content: string
}

interface Completion {
  model: string
  choices: { message: { content: string } }[]
  usage: { prompt_tokens: number; completion_tokens: number }
}

/** Thrown if the model answers with an error. The Hub stores `code` as the error code of the event. */
export class ModelError extends Error {
  readonly code: string

  constructor(status: number) {
    super(`The model answered with status ${status}.`)
    this.code = `model_${status}`
  }
}

/** Sends a conversation to a model with the interface of OpenAI. */
export async function complete(messages: readonly Message[]): Promise<Completion> {
  const base = process.env.MODEL_BASE_URL ?? 'https://api.openai.com/v1'
  const response = await fetch(`${base}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env.MODEL_API_KEY ?? ''}` },
    body: JSON.stringify({ model: process.env.MODEL ?? 'gpt-5-mini', messages }),
    signal: AbortSignal.timeout(60_000),
  })
  if (!response.ok) throw new ModelError(response.status)
  return (await response.json()) as Completion
}
