/// PEM forms of the keys printed in RFC 7515 and RFC 8037, and of others, written once by pyca/cryptography and OpenSSL.
enum PEMVectors {
  /// RFC 7515 A.2.1, as RFC 8017 has it
  static let rsaPKCS1 = """
    -----BEGIN RSA PRIVATE KEY-----
    MIIEowIBAAKCAQEAofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd/wWJcyQoTbji9k0
    l8W26mPddxHmfHQp+Vaw+4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL+yRT+SFd2lZS+pC
    gNMsD1W/YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb/7OMg0LOL+bSf63kpaSHSX
    ndS5z5rexMdbBYUsLA9e+KXBdQOS+UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uD
    Zlxvb3qCo5ZwKh9kG4LT6/I5IhlJH7aGhyxXFvUK+DWNmoudF8NAco9/h9iaGNj8
    q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQIDAQABAoIBABKucaRpzQorw35S
    bEUAVx8dYXUdZOlJcHtiWQ+dC6V8ljxAHj/PLyzTveyI5QO/xkObCyjIL303l2cf
    UhPu2MFaJdjVzqACXuOrLot/eSFvxjvqVidTtAZExqFRJ9mylUVAoLvhowVWmC1O
    n95fZCXxTUtxNEG1Xcc7m0rtzJKs45J+N/V9DP1edYH6USyPSWGp6wuA+KgHRnKK
    Vf9GRx80JQY7nVNkL17eHoTWEwga+lwi0FEoW9Y7lDtWXYmKBWhUE+U8PGxlJf8f
    40493HDw1WRQ/aSLoS4QTp3rn7gYgeHEvfJdkkf0UMhlknlo53M09EFPdadQ4TlU
    bjqKc50CgYEA4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH/5IB3jw3bcxGn6QLvnE
    tfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw/Py5PJdTJNPY8cQn7ouZ2KKDcmnPG
    BY5t7yLc1QlQ5xHdwW1VhvKn+nXqhJTBgIPgtldC+KDV5z+y2XDwGUcCgYEAuQPE
    fgmVtjL0Uyyx88GZFF1fOunH3+7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYs
    p1ZSe7zFYHj7C6ul7TjeLQeZD/YwD66t62wDmpe/HlB+TnBA+njbglfIsRLtXlnD
    zQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdcCgYAHAp9XcCSrn8wVkMVkKdb7
    DOX4IKjzdahm+ctDAJN4O/y7OW5FKebvUjdAIt2GuoTZ71iTG+7F0F+lP88jtjP4
    U4qe7VHoewl4MKOfXZKTe+YCS1XbNvfgwJ3Ltyl1OH9hWvu2yza7q+d5PCsDzqtm
    27kxuvULVeya+TEdAB1ijQKBgQCH/3r6YrVH/uCWGy6bzV1nGNOdjKc9tmkfOJmN
    54dxdixdpozCQ6U4OxZrsj3FcOhHBsqAHvX2uuYjagqvo3cOj1TRqNocX40omfCC
    Mx3bD1yPPf/6TI2XECva/ggqEY2mYzmIiA5LVVmc5nrybr+lssFKneeyxN2Wq93S
    0iJMdQKBgCGHewxzoa1r8ZMD0LETNrToK423K377UCYqXfg5XMclbrjPbEC3YI1Z
    NqMtuhdBJqUnBi6tjKMF+34Xf0CUN8ncuXGO2CAYvO8PdyCixHX52ybaDjy1FtCE
    6yUXjoKNXKvUm7MWGsAYH6f4IegOetN5NvmUMFStCSkh7ixZLkN1
    -----END RSA PRIVATE KEY-----
    """

  /// The same as RFC 5958 has it
  static let rsaPKCS8 = """
    -----BEGIN PRIVATE KEY-----
    MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCh+BYK4uPJtGXO
    jS1lYmM2K5J9vinh8CR3/BYlzJChNuOL2TSXxbbqY913EeZ8dCn5VrD7io8ImtxL
    aYk8wTM/U+3QGbh3hCUv7JFP5IV3aVlL6kKA0ywPVb9ilE8TA5a8bpvfbr3SvaNn
    juygxmj3AbONv/s4yDQs4v5tJ/reSlpIdJed1LnPmt7Ex1sFhSwsD174pcF1A5L5
    ROjtZMEQxrZHYJqkeDrrnGya11UxMFBji4NmXG9veoKjlnAqH2QbgtPr8jkiGUkf
    toaHLFcW9Qr4NY2ai50Xw0Byj3+H2JoY2PyrZ62EWQwuz3WTOTY8BwNNb2BvniHg
    VFbK5emhAgMBAAECggEAEq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyW
    PEAeP88vLNO97IjlA7/GQ5sLKMgvfTeXZx9SE+7YwVol2NXOoAJe46sui395IW/G
    O+pWJ1O0BkTGoVEn2bKVRUCgu+GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzj
    kn439X0M/V51gfpRLI9JYanrC4D4qAdGcopV/0ZHHzQlBjudU2QvXt4ehNYTCBr6
    XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl/x/jTj3ccPDVZFD9pIuhLhBOneufuBiB
    4cS98l2SR/RQyGWSeWjnczT0QU91p1DhOVRuOopznQKBgQDgHMQQ60imZV1URk0K
    pLttoLhyt3SmqdEf/kgHePDdtzEafpAu+cS191R2JiuoF2yzWXnwFDcqGigp5BNr
    0AHQfD8/Lk8l1Mk09jxxCfui5nYooNyac8YFjm3vItzVCVDnEd3BbVWG8qf6deqE
    lMGAg+C2V0L4oNXnP7LZcPAZRwKBgQC5A8R+CZW2MvRTLLHzwZkUXV866cff7tx6
    kqa0finGG0KgeqlaZPxgCZnFp7AeAcCMtiynVlJ7vMVgePsLq6XtON4tB5kP9jAP
    rq3rbAOal78eUH5OcED6eNuCV8ixEu1eWcPNCS/l1OW1EnXUEoEHKl54Xrrz2uNw
    kgMTP1FZ1wKBgAcCn1dwJKufzBWQxWQp1vsM5fggqPN1qGb5y0MAk3g7/Ls5bkUp
    5u9SN0Ai3Ya6hNnvWJMb7sXQX6U/zyO2M/hTip7tUeh7CXgwo59dkpN75gJLVds2
    9+DAncu3KXU4f2Fa+7bLNrur53k8KwPOq2bbuTG69QtV7Jr5MR0AHWKNAoGBAIf/
    evpitUf+4JYbLpvNXWcY052Mpz22aR84mY3nh3F2LF2mjMJDpTg7FmuyPcVw6EcG
    yoAe9fa65iNqCq+jdw6PVNGo2hxfjSiZ8IIzHdsPXI89//pMjZcQK9r+CCoRjaZj
    OYiIDktVWZzmevJuv6WywUqd57LE3Zar3dLSIkx1AoGAIYd7DHOhrWvxkwPQsRM2
    tOgrjbcrfvtQJipd+DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd/QJQ3
    ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp/gh6A56
    03k2+ZQwVK0JKSHuLFkuQ3U=
    -----END PRIVATE KEY-----
    """

  /// RFC 7515 A.3.1, behind its curve, as `openssl ecparam -genkey` writes it
  static let ecSEC1 = """
    -----BEGIN EC PARAMETERS-----
    BggqhkjOPQMBBw==
    -----END EC PARAMETERS-----
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEII6bEJ5xkJi/mASH3x9dd+nLKWBuvtImO19XwhPfhPSyoAoGCCqGSM49
    AwEHoUQDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72b
    focs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
    -----END EC PRIVATE KEY-----
    """

  /// RFC 7515 A.3.1
  static let ecPKCS8 = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjpsQnnGQmL+YBIff
    H1136cspYG6+0iY7X1fCE9+E9LKhRANCAAR/zc4ncPbEXUGDy+5v20t7WAczNXvp
    7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpGIyiFiOWt
    -----END PRIVATE KEY-----
    """

  /// Its public half
  static let ecPublic = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
    6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
    -----END PUBLIC KEY-----
    """

  /// RFC 8037 A.1
  static let ed25519PKCS8 = """
    -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
    -----END PRIVATE KEY-----
    """

  /// Under the passphrase `test`
  static let encryptedPKCS8 = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIH0MF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBBhwrWvMlZMu1k2vDhV
    Ceh5AgIIADAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQmTt1OlldTPg/R06G
    Uwqq1wSBkLPUYEtWYRDa2J30XmN1JC96K85J5EAhzdyQZgfjfwLfoyLz9dT/TLic
    8NRXzbjfAC0t3uVvNyGrAPGsO2p34tWup9PJ7SJ9UpOmos+IwzJhDVDEMSjQkuCH
    7qqX5ZbFFWICmzykfSurBHPLijR3H66LTpiOiRC+S3I7C+Gf49XCVnDuqiMGXURP
    PEy+goZeWA==
    -----END ENCRYPTED PRIVATE KEY-----
    """

  /// The same in the older form
  static let encryptedSEC1 = """
    -----BEGIN EC PRIVATE KEY-----
    Proc-Type: 4,ENCRYPTED
    DEK-Info: AES-128-CBC,D8C3D6A1640779FE48D99791E5DF1203

    SVgydhtowD8gF6Y10tjJlOMoKHKRA1YHC0SisEAl+h9Pci8SPpZ7ecYQ0V8UFxXo
    HB3sP5b6GTWg1ROyTU8XSlWwTVwsotexmNPFHWdHS2x48AMfYn2INwpKfj3T8qYm
    Pej3BSLpwxvbUK8h5KtnhrNGryjVvE/I53o74MggdR0=
    -----END EC PRIVATE KEY-----
    """

  /// 1024 bits
  static let smallRSA = """
    -----BEGIN RSA PRIVATE KEY-----
    MIICXAIBAAKBgQCkq0iP8Mbmd6PEpi0GJsqHbl+AaT6p0R/dijhfQDx7v63VeTtE
    aStnP10NsB5wdfMgA/HOdopeLcysF+9Fnj+fH0vSS/sz3Tgd6DhlELrJYI3/AF/K
    +tyJrVuN3yJ9dtQMPHDPkB+AwIm/76E9/G/SpFsh9dDZhnQspZx/AxFGCQIDAQAB
    AoGAGxxwN/KmbK9p8SiC5S5hzeZoJtYtEPxzSKBHI7eJvb4TOsBY96xxDvCpu2Ux
    vcZNnwnHN/zgTx0vQ241YLrrMl3etqMe0nlRfSsCcZ31uVWNqTkNdOY+sVUHhwRg
    gOSjdzLzCEO1XPXC6HICck/kc/hDttOJQXduQz0V2atLjvkCQQDXhqKcqB0lMQ1G
    ka0Bkrr1RFiPOn9IZcVLYVvgaHQn8xeygOLPTM4zIK1prA1ITtxA4dLT661pEXNV
    3Uzd9bC3AkEAw5e3Qd39C1pgw9NO8eUGOibluaKdpxXVhO226JQLjwZBfruzFQ7Z
    lAJh+4VjIujUrlwNnrC2/RPkLPButpB/PwJARIB4Ys5UJSQIEivvDxbx8U69zxhK
    qFogcSsKprLMaH4tRAEPFdBVoY57T6Dtv9PA0aZ0+gJoZYK0Y9AoxEt41QJAcYXf
    UZWcxzgfrck5quB46sukzkf6JP5hPZQTc45p3wuMfBhJatGBq4xufmP/FEX7G3BG
    X3LF4sHmz8aFG+VmVQJBAMjHooFRBUflAQ38TeyNWqa1NV5eVQNQ6KdKPwPArJNa
    YVBY4hkpLIBATkRLM6ViR0HVHVdOe2NFXPHzJiSikf4=
    -----END RSA PRIVATE KEY-----
    """

  /// For RSASSA-PSS only
  static let rsaPSS = """
    -----BEGIN PRIVATE KEY-----
    MIIEvAIBADALBgkqhkiG9w0BAQoEggSoMIIEpAIBAAKCAQEA8p6TjpLHbe9CpVkB
    AvjU/bD9ftswOFXwHvPsB/mD1BA5KWCdJvaev9oZmBlEDLIK+MW19v5OObomi8wj
    zPevoKdpaT4NQb+p7CzHWVpkAd7S0Lk2mKPzKllar/SFOvmzdEPgLkKRRCCL/PZw
    37rCnXOASBZzxaDUg3bClJiJsq+j+AkhcAHeInTuY29aKBe4FHMu59AAUXYfL5jO
    0Ka86/m7/6hlLBU+0g0DIfRmRh6dn/dEng+DaOhP3PcMIqGeyxYqo4t5scNZilMn
    FYw9rkr10b8fY52xF1Oe0bzbHQLuvRliOO+6mx9JBPP/z16oyBXNgEzgopM1Sbxj
    axuFcwIDAQABAoIBAHKHEb+NIRAPkAXOiHA3Nw/Ucy1lWZNWWeW6njI7ghPiXqFe
    JoEEjPaihU9rqdhWWWCKr/V6oUGV0mlOgZ3ZU/IB5PwVmxts1tESaD4RMcFCRoDZ
    1WBjkD9u86S4yAWJZsFc4x/jM4CV3o8YZDrwhbrekXE2DAt/+qFeN8b+ZI3QeUUL
    3pZ0Aq3Pd3b3QZGgd14K6RTGGyaxDIuQN2EVSxi6IRq7jJeyC8rDhgdwba6tJuAo
    /xy4Sk1gOW4PVkxajU0B34cQWZQf82WWUCvtIjM67ynph/Vdlcb/JEcIUT3lIUXs
    6C+v303JgEszQDbJ9MLir2wbqMq4yicLza623aECgYEA/O+1kxSriKXaxfMCNzdg
    u3NrGvNhNkvM2hD++1RBJImi/TRPmKSng9QsRTBepeWumXS9ua/LdgEoEKAf7nvM
    XXNz9rzeIna7g3/NLnhAZbqVUwcVTAYpHkgbvRHXB4UbNHmJMaAaNfMhjZx7Ky3c
    /iacM0mSzhdZRXW8I28eM5MCgYEA9Y7ggeeD4wUZ+tca4e7IQ95Z68QDnJ1ZTntW
    OU64syIJNbUaNDvOZ0VUfY5dHtKeGoJBEQrHOC1trjc2CRpunWSh2LxbBhtP7paw
    HAms/b6/kRnXXCfy4dKfxsnE4aWQbL9MTPmzbek4dpui07ZHjxfDPTzHgwstlVE/
    ccAIUqECgYByi1/QNskjvfBgOpejR8nfufokH1nDy/n+OzotuU8y673LKxhsyQwv
    kDNoNep2+JfkWNDeuXTLgOSS+uDbEGdRXsqCT6/NLbXnbEYQKFcJesDK8+c6IYQX
    eZJOQjj959KVJgDyX03fZraoOdgxiriMxBFyzHvWJw6/fPzxkw27TwKBgQDALx6P
    DP8vwmJe69NiWFvsoi2GVFbvUEcBIY6OM4piyJSksCTeFKCqOpyx16YR5Y1P+fmq
    uODKmuNoolVsMn+4N3ZkBqbG1MFuXglfKEN4JL4RdkQTIED7dLkQAAJTCB1Mvzuc
    UyGXOBy014JMaDEBUPvBBbywVyNJ5djd0gmxgQKBgQDEHblY7BWDsk8fIEB6SuYD
    bPxAKp6HwlDWjUrAWM/ycFj4I/pXjF54vckfmr9k3unJR5c/YuMNdTMm9E5aA6/d
    ZQ3c9EltVF5havXKJGXrMCkFiD9Ya08BrgazSiTMt0V/HQMnm2AxPoKVnZr3U6tF
    NaOAjKhPTN8rQj2a5oOq8A==
    -----END PRIVATE KEY-----
    """

  /// A key that signs nothing
  static let x25519 = """
    -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VuBCIEIGCMwqnUauZU48bjJuEuSKv6AQoVW42Q6Bb5gQpB4MNY
    -----END PRIVATE KEY-----
    """

  /// RFC 8037 A.1 in a form of another trade
  static let openSSH = """
    -----BEGIN OPENSSH PRIVATE KEY-----
    b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZWQyNTUx
    OQAAACDXWpgBgrEKt9VL/tPJZAc6DuFy89qmIyWvAhpo9wdRGgAAAIgnfMubJ3zLmwAAAAtzc2gt
    ZWQyNTUxOQAAACDXWpgBgrEKt9VL/tPJZAc6DuFy89qmIyWvAhpo9wdRGgAAAECdYbGd7/1aYLqE
    SvSS7CzEREnFaXsyaRlwO6wDHK5/YNdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1EaAAAA
    AAECAwQF
    -----END OPENSSH PRIVATE KEY-----
    """
}
