"""The REST API, websocket, admin and page, which present chats to users and staff. A Django app without models.

It stores nothing and decides nothing about turns: views and consumers call the use cases in chat/.
"""
