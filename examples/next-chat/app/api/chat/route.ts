import { hub } from '../../../lib/hub.ts'
import { complete, type Message, ModelError } from '../../../lib/model.ts'

/**
 * Answers a conversation, and reports the call to the Hub as one event of the session, also if the model fails. Neither
 * questions nor answers leave this server for the Hub.
 */
export async function POST(request: Request): Promise<Response> {
  const asked = readConversation(await request.json().catch(() => undefined))
  if (!asked) return Response.json({ error: 'Send a session_id and messages.' }, { status: 400 })
  const event = {
    ...{ skill_id: 'reply-draft', skill_version: '1.0.0', archetype_id: 'support-agent' },
    // Take the person from your sign-in.
    ...{ user_id: 'user:kim@example.com', llm_platform: 'chatgpt', session_id: asked.sessionId },
  }
  try {
    const reply = await hub().telemetry.trace(event, async (trace) => {
      const { model, choices, usage } = await complete(asked.messages)
      trace.set({ llm_model: model, tokens_in: usage.prompt_tokens, tokens_out: usage.completion_tokens })
      return choices[0]?.message.content ?? ''
    })
    return Response.json({ reply })
  } catch (error) {
    console.error(error)
    const text = error instanceof ModelError ? error.message : 'The model cannot be reached.'
    return Response.json({ error: text }, { status: 502 })
  }
}

function readConversation(body: unknown): { sessionId: string; messages: Message[] } | undefined {
  const { session_id, messages } = (body ?? {}) as { session_id?: unknown; messages?: unknown }
  if (typeof session_id !== 'string' || !/^[\w-]{1,128}$/.test(session_id)) return undefined
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > 100) return undefined
  return messages.every(isMessage) ? { sessionId: session_id, messages } : undefined
}

function isMessage(value: unknown): value is Message {
  const { role, content } = (value ?? {}) as Partial<Message>
  return (role === 'user' || role === 'assistant') && typeof content === 'string' && content.length <= 8000
}
