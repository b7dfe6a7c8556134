"""A Django project: django-oauth-toolkit as authorization server and Django REST framework as the API it protects.

Run as a program, it serves: django_project.py PORT FOLDER TOKEN_SECONDS GRACE_SECONDS
"""

import pathlib
import sys

import django
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.conf import settings
from django.core.management import call_command
from django.core.servers.basehttp import run
from django.core.wsgi import get_wsgi_application

PORT, FOLDER = int(sys.argv[1]), pathlib.Path(sys.argv[2])
TOKEN_SECONDS, GRACE_SECONDS = int(sys.argv[3]), int(sys.argv[4])
USER, PASSWORD = "alice", "alice-password"
PUBLIC_CLIENT, CLIENT_ID, CLIENT_SECRET = "proofd-public", "proofd-confidential", "interop-client-secret-51c2"
REDIRECT_URI = "http://127.0.0.1:53111/callback"
LOGIN_PAGE = '<form method="post">{% csrf_token %}{{ form }}<input type="hidden" name="next" value="{{ next }}"></form>'


APPLICATIONS = ["auth", "contenttypes", "sessions", "oauth2_provider"]


def configure():
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    context = ["django.template.context_processors.request", "django.contrib.auth.context_processors.auth"]
    (FOLDER / "login.html").write_text(LOGIN_PAGE)
    settings.configure(
        SECRET_KEY="interop" * 8, ALLOWED_HOSTS=["127.0.0.1"], USE_TZ=True, LOGIN_URL="/login/",
        ROOT_URLCONF="__main__", DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        DATABASES={"default": {
            "ENGINE": "django.db.backends.sqlite3", "NAME": FOLDER / "django.db",
            "OPTIONS": {"transaction_mode": "IMMEDIATE", "init_command": "PRAGMA journal_mode=wal;"},
        }},
        MIGRATION_MODULES=dict.fromkeys(APPLICATIONS),  # tables straight from the models: 5 s less
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],  # for the client's secret, too
        INSTALLED_APPS=[
            "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "oauth2_provider",
            "rest_framework",
        ],
        MIDDLEWARE=[
            "django.middleware.common.CommonMiddleware",  # gives answers a length, without which connections close
            "django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        TEMPLATES=[{
            "BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True, "DIRS": [FOLDER],
            "OPTIONS": {"context_processors": context},
        }],
        REST_FRAMEWORK={
            "DEFAULT_AUTHENTICATION_CLASSES": ["oauth2_provider.contrib.rest_framework.OAuth2Authentication"],
        },
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True, "SCOPES": {"openid": "who you are", "api:read": "read", "api:write": "write"},
            "OIDC_RSA_PRIVATE_KEY": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
            "ACCESS_TOKEN_EXPIRE_SECONDS": TOKEN_SECONDS, "PKCE_REQUIRED": True, "ROTATE_REFRESH_TOKEN": True,
            "REFRESH_TOKEN_REUSE_PROTECTION": True, "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": GRACE_SECONDS,
            "ALLOWED_REDIRECT_URI_SCHEMES": ["http"],
        },
    )
    django.setup()


def fill():
    from django.contrib.auth.models import User
    from oauth2_provider.models import Application

    call_command("migrate", run_syncdb=True, verbosity=0)
    user = User.objects.create_user(USER, password=PASSWORD)
    shared = {
        "user": user, "authorization_grant_type": "authorization-code", "algorithm": "RS256",
        "redirect_uris": REDIRECT_URI,
    }
    Application.objects.create(client_id=PUBLIC_CLIENT, client_type="public", **shared)
    Application.objects.create(
        client_id=CLIENT_ID, client_secret=CLIENT_SECRET, client_type="confidential", **shared,
    )


def routes():
    from django.contrib.auth.views import LoginView
    from django.urls import include, path
    from oauth2_provider import urls
    from oauth2_provider.contrib.rest_framework import TokenHasScope
    from rest_framework.response import Response
    from rest_framework.views import APIView

    class Orders(APIView):
        permission_classes = [TokenHasScope]
        required_scopes = ["api:read"]

        def get(self, request):
            return Response({"user": str(request.user), "scope": request.auth.scope})

        def post(self, request):
            return Response({"user": str(request.user), "received": request.data})

    return [
        path("o/", include(urls, namespace="oauth2_provider")),
        path("login/", LoginView.as_view(template_name="login.html")),
        path("orders/", Orders.as_view()),
    ]


if __name__ == "__main__":
    configure()
    urlpatterns = routes()
    fill()
    run("127.0.0.1", PORT, get_wsgi_application(), threading=True)
