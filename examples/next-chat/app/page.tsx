'use client'

import { type FormEvent, useState } from 'react'
import type { Message } from '../lib/model.ts'

/** A conversation. The Hub counts its calls under one session. */
export default function Chat() {
  const [sessionId] = useState(() => crypto.randomUUID())
  const [messages, setMessages] = useState<Message[]>([])
  const [problem, setProblem] = useState('')
  const [isWaiting, setIsWaiting] = useState(false)

  async function send(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = event.currentTarget
    const asked: Message[] = [...messages, { role: 'user', content: String(new FormData(form).get('text')) }]
    setMessages(asked)
    setProblem('')
    setIsWaiting(true)
    form.reset()
    try {
      const body = JSON.stringify({ session_id: sessionId, messages: asked })
      const response = await fetch('/api/chat', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      const answer = await response.json()
      if (response.ok) setMessages([...asked, { role: 'assistant', content: answer.reply }])
      else setProblem(answer.error)
    } catch {
      setProblem('The server cannot be reached.')
    } finally {
      setIsWaiting(false)
    }
  }

  return (
    <main>
      <h1>Chat</h1>
      <ol aria-live="polite">
        {messages.map(({ role, content }, index) => (
          <li key={index}>
            {role === 'user' ? 'You' : 'Assistant'}: {content}
          </li>
        ))}
      </ol>
      {problem && <p role="alert">{problem}</p>}
      <form onSubmit={send}>
        <label>
          Message <input name="text" required maxLength={2000} autoComplete="off" />
        </label>
        <button type="submit" disabled={isWaiting}>
          Send
        </button>
      </form>
    </main>
  )
}
